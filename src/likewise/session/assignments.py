"""Current group of every image: predictions of the last training, with all answers satisfied."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from likewise.constraints.assignment import constrained_labels
from likewise.constraints.question import NEW, Answer
from likewise.errors import InvalidParameterError, NoGroupsError, UnknownNameError
from likewise.session.groups import Groups
from likewise.session.results import Results, confidence, load_results, pin, pinned_columns
from likewise.session.session import Session
from likewise.types import Floats, Indexes, Pairs

BAD_IMAGE = "bad image"
NOT_SORTED = "not sorted yet"
UNSURE = "unsure"


@dataclass(frozen=True)
class Snapshot:
    """Copy of everything but the model that determines the group of each image.

    Parameters
    ----------
    components : array of shape (n,)
        Must-link component of each image, as in `ConstraintGraph.groups`.
    cannot_links : array of shape (m, 2)
    component_names : dict of int to str
        Group name by component, from labels; empty if the model's columns have keys.
    pinned : dict of int to int
        Images that answers assign to a group, and its column.
    bad, answered : arrays of int
        Images that were answered with "bad image", and those that a person placed in a group.
    groups : Groups
    first : array of shape (n,)
        See `Images.first`.
    present : array of shape (n,)
    names : list of str
    constraints_version : str
        See `Session.constraints_version`.
    """

    components: Indexes
    cannot_links: Pairs
    component_names: dict[int, str]
    pinned: dict[int, int]
    bad: Indexes
    answered: Indexes
    groups: Groups
    first: Indexes
    present: npt.NDArray[np.bool_]
    names: list[str]
    constraints_version: str

    @classmethod
    def of(cls, session: Session, criterion: str, keys: tuple[str, ...]) -> "Snapshot":
        """Return the current state; `keys` are the groups of a model's columns.

        The lock is held only while copying.
        """
        with session.lock:
            graph, images = session.graph(criterion), session.images
            groups = session.groups(criterion)
            components, cannot_links = graph.groups(), graph.cannot_links()
            component_names = {} if keys else graph.group_names()
            bad, active = graph.bad_images, graph.active_answers
            first, present, names = images.first, images.present, images.names
            version = session.constraints_version(criterion)
        pinned = pinned_columns(active, groups, keys)
        return cls(
            components,
            cannot_links,
            component_names,
            pinned,
            np.array(sorted(bad), dtype=np.intp),
            _placed_images(active, components, pinned),
            groups,
            first,
            present,
            names,
            version,
        )


def _placed_images(
    active: Mapping[int, Answer], components: Indexes, pinned: Iterable[int]
) -> Indexes:
    """Return the images that a person placed in a group.

    By its key, in a new group, or by a chain of must-links to another image. An image of which
    answers only say in which groups it is not has no place yet.
    """
    opened = [a.question.images[0] for a in active.values() if a.answer == NEW]
    named = [image for answer in active.values() for image in answer.placed]
    n_linked = np.bincount(components, minlength=len(components))[components]
    linked = np.flatnonzero(n_linked > 1)
    return np.union1d(linked, np.array([*opened, *named, *pinned], dtype=np.intp))


@dataclass(frozen=True)
class Placement:
    """The group of every image as arrays; copies of one image have the same group.

    Parameters
    ----------
    labels : array of shape (n,)
        The column of each image; -1 if the model has not seen it and no answer
        connects it to another image.
    clusters : array of shape (n,)
        As `labels`, but with one number for merged groups, and -1 for bad images.
    confidence : array of shape (n,)
    answered, is_bad : arrays of shape (n,)
    """

    labels: Indexes
    clusters: Indexes
    confidence: Floats
    answered: npt.NDArray[np.bool_]
    is_bad: npt.NDArray[np.bool_]


def place_images(results: Results, snapshot: Snapshot) -> Placement:
    """Return the group of each image; answers may be newer than the model."""
    labels = _constrained_labels(results, snapshot)
    is_bad = _mask(snapshot.bad, snapshot.first)
    clusters = _merged(labels, results.keys, snapshot.groups)
    clusters[is_bad] = -1
    probability = confidence(results.probabilities, labels)
    answered = _mask(snapshot.answered, snapshot.first) | is_bad
    return Placement(labels, clusters, probability, answered, is_bad)


def _merged(labels: Indexes, keys: tuple[str, ...], groups: Groups) -> Indexes:
    """Replace the labels of merged groups by the smallest of them."""
    resolved = [groups.resolve(key) for key in keys]
    number = np.array([*map(resolved.index, resolved), -1], dtype=np.intp)  # [-1] stays -1
    return number[labels] if keys else labels.copy()


def _constrained_labels(results: Results, snapshot: Snapshot) -> Indexes:
    unseen = ~results.probabilities.any(axis=1)
    components, labels = snapshot.components, results.labels
    if results.constraints_version != snapshot.constraints_version:  # answers since the training
        probabilities = results.probabilities.copy()
        probabilities[unseen] = 1 / probabilities.shape[1]
        pinned = pin(probabilities, snapshot.pinned)
        labels = constrained_labels(pinned, components, snapshot.cannot_links)
    sizes = np.bincount(components, minlength=len(labels))
    is_connected = sizes[components] > 1  # by a must-link, which determines its group
    return np.where(unseen & ~is_connected, -1, labels)[snapshot.first]


def _mask(images: Indexes, first: Indexes) -> npt.NDArray[np.bool_]:
    """Return which images are in `images` or are copies of them, (n,)."""
    mask = np.zeros(len(first), dtype=np.bool_)
    mask[images] = True
    return mask[first]


@dataclass(frozen=True)
class Assignment:
    """The group of one image.

    Parameters
    ----------
    position : int
        Of the image in the session.
    path : str
        Relative to the image folder.
    cluster : int
        From 0; -1 for a bad image, one that no model has seen, or one that
        `mark_unsure` removed from its group.
    name : str
        Of the group; empty if it has none.
    confidence : float
        The model's probability of the cluster.
    answered : bool
        Whether a person placed the image: answers name its group, link it to another image, or say
        that it is a bad image.
    """

    position: int
    path: str
    cluster: int
    name: str
    confidence: float
    answered: bool


def assignments(session: Session, criterion: str, groups: Collection[str] = ()) -> list[Assignment]:
    """Return the group of each present image, in the order of the session.

    Parameters
    ----------
    session : Session
    criterion : str
    groups : collection of str
        Names or keys of groups; the images of other groups are left out. Empty: all images.

    Raises
    ------
    NoGroupsError
        If the criterion has no results yet.
    UnknownNameError
        If there is no such group.
    """
    criterion = session.criterion(criterion).name
    results = load_results(session, criterion)
    if results is None:
        raise NoGroupsError(f"Criterion {criterion!r} has no groups yet; train it first.")
    snapshot = Snapshot.of(session, criterion, results.keys)
    if len(snapshot.first) != len(results.labels):  # images were added in the meantime
        results = load_results(session, criterion) or results
    placement = place_images(results, snapshot)
    names = _cluster_names(snapshot, results, placement.labels)
    wanted = _wanted_names(snapshot.groups, groups)
    rows = [
        Assignment(
            i,
            snapshot.names[i],
            int(placement.clusters[i]),
            BAD_IMAGE if placement.is_bad[i] else names.get(int(placement.labels[i]), ""),
            float(placement.confidence[i]),
            bool(placement.answered[i]),
        )
        for i in np.flatnonzero(snapshot.present).tolist()
    ]
    return [row for row in rows if row.name in wanted] if wanted else rows


def _wanted_names(groups: Groups, chosen: Collection[str]) -> set[str]:
    """Return the names of the groups that are chosen by their name or key."""
    names = {name for group in groups.shown() for name in (group.key, group.name)}
    for one in chosen:
        if one not in names:
            raise UnknownNameError("group", one, [group.name for group in groups.shown()])
    return {group.name for group in groups.shown() if {group.key, group.name} & {*chosen}}


def mark_unsure(rows: list[Assignment], below: float) -> list[Assignment]:
    """Return `rows` with unanswered images of confidence less than `below` in group ``unsure``.

    Raises
    ------
    InvalidParameterError
        If `below` is not a probability.
    """
    if not 0 <= below <= 1:
        raise InvalidParameterError(f"unsure_below must be a number from 0 to 1, got {below}.")
    return [
        replace(row, cluster=-1, name=UNSURE)
        if row.cluster >= 0 and not row.answered and row.confidence < below
        else row
        for row in rows
    ]


def _cluster_names(snapshot: Snapshot, results: Results, labels: Indexes) -> dict[int, str]:
    """Return the name of each cluster: by its key, else the most frequent label in it."""
    groups = snapshot.groups
    if results.keys:
        named = {cluster: groups.name(key) for cluster, key in enumerate(results.keys)}
        return {**named, -1: NOT_SORTED}
    counts: dict[int, Counter[str]] = {}
    for component, cluster in zip(snapshot.components.tolist(), labels.tolist(), strict=True):
        if component in snapshot.component_names:
            counts.setdefault(cluster, Counter())[snapshot.component_names[component]] += 1
    named = {cluster: groups.name(count.most_common(1)[0][0]) for cluster, count in counts.items()}
    return {**named, -1: NOT_SORTED}
