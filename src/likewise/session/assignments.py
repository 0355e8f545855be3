"""Where every image belongs now: the model's findings with all answers that stand honoured."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.constraints.honour import honour
from likewise.constraints.relation import Indexes
from likewise.errors import SessionError
from likewise.session.anchors import anchored
from likewise.session.groups import Groups
from likewise.session.results import Results, confidence, load_results
from likewise.session.session import Session

BAD_IMAGE = "bad image"
NOT_SORTED = "not sorted yet"


@dataclass(frozen=True)
class Assignment:
    """Where one image belongs.

    Parameters
    ----------
    position : int
        Of the image in the session.
    path : str
        Below the folder of the pictures.
    cluster : int
        From 0; -1 for an image that people called bad or no model has seen.
    name : str
        Of the group; empty if nobody gave it one.
    confidence : float
        The model's probability of the cluster.
    answered : bool
        Whether an answer that stands names the image.
    """

    position: int
    path: str
    cluster: int
    name: str
    confidence: float
    answered: bool


def assignments(session: Session, orientation: str) -> list[Assignment]:
    """Return where each image belongs whose file is there, in the order of the session.

    Copies of one image go where it goes.

    Raises
    ------
    SessionError
        If the orientation has no results yet.
    """
    with session.lock:
        orientation = session.orientation(orientation).name
        results = load_results(session, orientation)
        if results is None:
            raise SessionError(
                f"Orientation {orientation!r} has no groups yet, since nothing was trained; train "
                "it first."
            )
        graph, images = session.graph(orientation), session.images
        labels = _labels(session, orientation, results)
        sure = confidence(results.probabilities, labels)
        clusters = _merged(labels, results.keys, session.groups(orientation))
        names = _names(session, orientation, results, labels)
        answered = _answered(session, orientation)
        is_bad = np.isin(images.first, list(graph.bad_images))
    clusters[is_bad] = -1
    return [
        Assignment(
            i,
            images.names[i],
            int(clusters[i]),
            BAD_IMAGE if is_bad[i] else names.get(int(labels[i]), ""),
            float(sure[i]),
            bool(answered[i]),
        )
        for i in np.flatnonzero(images.present).tolist()
    ]


def _merged(labels: Indexes, keys: tuple[str, ...], groups: Groups) -> Indexes:
    """Return clusters of one group under one number, the smallest of theirs."""
    resolved = [groups.resolve(key) for key in keys]
    number = np.array([*map(resolved.index, resolved), -1], dtype=np.intp)  # [-1] stays -1
    return number[labels] if keys else labels.copy()


def _labels(session: Session, orientation: str, results: Results) -> Indexes:
    """Return the cluster of each image by now; answers may be newer than the model."""
    graph, first = session.graph(orientation), session.images.first
    unseen = ~results.probabilities.any(axis=1)
    probabilities = results.probabilities.copy()
    probabilities[unseen] = 1 / probabilities.shape[1]
    labels = honour(anchored(session, orientation, probabilities, results.keys), graph).labels
    sizes = np.bincount(graph.groups(), minlength=len(labels))
    is_tied = sizes[graph.groups()] > 1  # an answer says where it goes, if not the model
    return np.where(unseen & ~is_tied, -1, labels)[first]


def _answered(session: Session, orientation: str) -> npt.NDArray[np.bool_]:
    """Return which images an answer that stands names, (n,); a copy counts as its image."""
    named = {content for entry in session.answers(orientation) for content in entry.images}
    return np.array([content in named for content in session.images.hashes], dtype=np.bool_)


def _names(session: Session, orientation: str, results: Results, labels: Indexes) -> dict[int, str]:
    """Return what each cluster is called: by its key, else as most of its labelled images are."""
    groups = session.groups(orientation)
    if results.keys:
        named = {cluster: groups.name(key) for cluster, key in enumerate(results.keys)}
        return {**named, -1: NOT_SORTED}
    graph = session.graph(orientation)
    label_of = graph.group_names()
    said: dict[int, Counter[str]] = {}
    for group, cluster in zip(graph.groups().tolist(), labels.tolist(), strict=True):
        if group in label_of:
            said.setdefault(cluster, Counter())[label_of[group]] += 1
    named = {cluster: groups.name(count.most_common(1)[0][0]) for cluster, count in said.items()}
    return {**named, -1: NOT_SORTED}
