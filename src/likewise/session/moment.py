"""What people have said by now, as arrays of one moment: answers may go on coming in meanwhile."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.constraints.honour import nearest_labels
from likewise.constraints.relation import Indexes, Pairs
from likewise.session.anchors import firmly, held_in
from likewise.session.groups import Groups
from likewise.session.results import Results, confidence
from likewise.session.session import Session


@dataclass(frozen=True)
class Moment:
    """All that decides where images belong, apart from a model; see `Moment.of`.

    Parameters
    ----------
    ties : array of shape (n,)
        The group of each image by answers, as in `ConstraintGraph.groups`.
    apart : array of shape (m, 2)
    called : dict of int to str
        What labels call the groups of `ties`.
    held : dict of int to int
        Images that were put into a group, and its column.
    bad, named : arrays of int
        Images that people called bad, and those that answers name.
    groups : Groups
    first : array of shape (n,)
        See `Images.first`.
    present : array of shape (n,)
    names : list of str
    """

    ties: Indexes
    apart: Pairs
    called: dict[int, str]
    held: dict[int, int]
    bad: Indexes
    named: Indexes
    groups: Groups
    first: Indexes
    present: npt.NDArray[np.bool_]
    names: list[str]

    @classmethod
    def of(cls, session: Session, orientation: str, keys: tuple[str, ...]) -> "Moment":
        """Return the moment now; `keys` are the groups of a model's columns.

        The lock is held while things are copied, and no longer.
        """
        with session.lock:
            graph, images, groups = (
                session.graph(orientation),
                session.images,
                session.groups(orientation),
            )
            ties, apart = graph.groups(), graph.apart()
            called = {} if keys else graph.group_names()
            bad, aside = graph.bad_images, set(graph.set_aside)
            said = dict(graph.answers)
            first, present, names = images.first, images.present, images.names
        held = held_in({n: a for n, a in said.items() if n not in aside}, groups, keys)
        named = {i for answer in said.values() for i in answer.question.images}
        bads, nameds = (np.array(sorted(some), dtype=np.intp) for some in (bad, named))
        return cls(ties, apart, called, held, bads, nameds, groups, first, present, names)


@dataclass(frozen=True)
class Places:
    """Where every image belongs at a moment; copies of one image go where it goes.

    Parameters
    ----------
    labels : array of shape (n,)
        The column of each image; -1 where no model has seen it and no answer ties it.
    clusters : array of shape (n,)
        Columns of one group under one number; -1 for bad images too.
    confidence : array of shape (n,)
    answered, is_bad : arrays of shape (n,)
    """

    labels: Indexes
    clusters: Indexes
    confidence: npt.NDArray[np.float32]
    answered: npt.NDArray[np.bool_]
    is_bad: npt.NDArray[np.bool_]


def places(results: Results, moment: Moment) -> Places:
    """Return where each image belongs by now; answers may be newer than the model."""
    labels = _labels(results, moment)
    is_bad = _mask(moment.bad, moment.first)
    clusters = merged(labels, results.keys, moment.groups)
    clusters[is_bad] = -1
    sure = confidence(results.probabilities, labels)
    return Places(labels, clusters, sure, _mask(moment.named, moment.first), is_bad)


def merged(labels: Indexes, keys: tuple[str, ...], groups: Groups) -> Indexes:
    """Return clusters of one group under one number, the smallest of theirs."""
    resolved = [groups.resolve(key) for key in keys]
    number = np.array([*map(resolved.index, resolved), -1], dtype=np.intp)  # [-1] stays -1
    return number[labels] if keys else labels.copy()


def _labels(results: Results, moment: Moment) -> Indexes:
    unseen = ~results.probabilities.any(axis=1)
    probabilities = results.probabilities.copy()
    probabilities[unseen] = 1 / probabilities.shape[1]
    labels = nearest_labels(firmly(probabilities, moment.held), moment.ties, moment.apart)
    sizes = np.bincount(moment.ties, minlength=len(labels))
    is_tied = sizes[moment.ties] > 1  # an answer says where it goes, if not the model
    return np.where(unseen & ~is_tied, -1, labels)[moment.first]


def _mask(images: Indexes, first: Indexes) -> npt.NDArray[np.bool_]:
    """Return which images are, or are copies of, some; (n,)."""
    is_one = np.zeros(len(first), dtype=np.bool_)
    is_one[images] = True
    return is_one[first]
