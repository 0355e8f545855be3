"""Where every image belongs now: the model's findings with all answers that stand honoured."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from likewise.constraints.relation import Indexes
from likewise.errors import InvalidParameterError, SessionError
from likewise.session.moment import Moment, places
from likewise.session.results import Results, load_results
from likewise.session.session import Session

BAD_IMAGE = "bad image"
NOT_SORTED = "not sorted yet"
UNSURE = "unsure"


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
        From 0; -1 for an image that people called bad, no model has seen, or `set_unsure_aside`
        put nowhere.
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
    orientation = session.orientation(orientation).name
    results = load_results(session, orientation)
    if results is None:
        raise SessionError(
            f"Orientation {orientation!r} has no groups yet, since nothing was trained; train "
            "it first."
        )
    moment = Moment.of(session, orientation, results.keys)
    if len(moment.first) != len(results.labels):  # new pictures were found at this very moment
        results = load_results(session, orientation) or results
    found = places(results, moment)
    names = _names(moment, results, found.labels)
    return [
        Assignment(
            i,
            moment.names[i],
            int(found.clusters[i]),
            BAD_IMAGE if found.is_bad[i] else names.get(int(found.labels[i]), ""),
            float(found.confidence[i]),
            bool(found.answered[i]),
        )
        for i in np.flatnonzero(moment.present).tolist()
    ]


def set_unsure_aside(rows: list[Assignment], below: float) -> list[Assignment]:
    """Return `rows` with images in no answer, less sure than `below`, in a group ``unsure``.

    Raises
    ------
    InvalidParameterError
        If `below` is no probability.
    """
    if not 0 <= below <= 1:
        raise InvalidParameterError(
            f"unsure_below={below} is no probability; give a number from 0 (none is unsure) to 1."
        )
    return [
        replace(row, cluster=-1, name=UNSURE)
        if row.cluster >= 0 and not row.answered and row.confidence < below
        else row
        for row in rows
    ]


def _names(moment: Moment, results: Results, labels: Indexes) -> dict[int, str]:
    """Return what each cluster is called: by its key, else as most of its labelled images are."""
    groups = moment.groups
    if results.keys:
        named = {cluster: groups.name(key) for cluster, key in enumerate(results.keys)}
        return {**named, -1: NOT_SORTED}
    said: dict[int, Counter[str]] = {}
    for group, cluster in zip(moment.ties.tolist(), labels.tolist(), strict=True):
        if group in moment.called:
            said.setdefault(cluster, Counter())[moment.called[group]] += 1
    named = {cluster: groups.name(count.most_common(1)[0][0]) for cluster, count in said.items()}
    return {**named, -1: NOT_SORTED}
