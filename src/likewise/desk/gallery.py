"""Where every picture is now, group by group: what the page and other programs show."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.constraints.relation import Indexes
from likewise.errors import UnknownNameError
from likewise.session.assignments import assignments
from likewise.session.groups import Group
from likewise.session.results import Results
from likewise.session.session import Session

_SURE = 0.6  # below this a picture is among the unsure ones


@dataclass(frozen=True)
class Placed:
    """One picture in its group."""

    id: int
    name: str
    confidence: float
    answered: bool
    moved: bool


@dataclass(frozen=True)
class Gallery:
    """The groups at one moment, with every answer honoured.

    Parameters
    ----------
    groups : tuple of Group
        Those that stand for themselves, in their lasting order.
    members : dict of str to array
        Positions by the key of the group, the surest first.
    group_of : array of shape (n_images,)
        The place in `groups` of each image; -1 if it is in none.
    confidence, answered, moved : arrays of shape (n_images,)
    names : list of str
    unsure : array
        Positions of pictures that nobody spoke of and the model is unsure of, worst first.
    bad : array
    """

    groups: tuple[Group, ...]
    members: dict[str, Indexes]
    group_of: Indexes
    confidence: npt.NDArray[np.float32]
    answered: npt.NDArray[np.bool_]
    moved: npt.NDArray[np.bool_]
    names: list[str]
    unsure: Indexes
    bad: Indexes

    def show(self, positions: Indexes) -> list[Placed]:
        """Return pictures with what is known of each."""
        return [
            Placed(
                i,
                self.names[i],
                round(float(self.confidence[i]), 4),
                bool(self.answered[i]),
                bool(self.moved[i]),
            )
            for i in positions.tolist()
        ]

    def of(self, key: str) -> Indexes:
        """Return the members of a group."""
        if key not in self.members:
            raise UnknownNameError("group", key, self.members)
        return self.members[key]


def make_gallery(session: Session, orientation: str, results: Results) -> Gallery:
    """Return the gallery of an orientation that has results."""
    rows = assignments(session, orientation)
    made = session.groups(orientation)
    keys = [made.resolve(key) for key in results.keys]
    groups = tuple(group for group in made.shown() if group.key in keys)
    place = {group.key: number for number, group in enumerate(groups)}
    n = len(session.images)
    group_of = np.full(n, -1, dtype=np.intp)
    confidence = np.zeros(n, dtype=np.float32)
    answered, is_shown = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    for row in rows:
        is_shown[row.position] = True
        if row.cluster >= 0:
            group_of[row.position] = place.get(keys[row.cluster], -1)
        confidence[row.position], answered[row.position] = row.confidence, row.answered
    surest = np.lexsort((-confidence, ~answered))
    members = {g.key: surest[group_of[surest] == number] for g, number in _numbered(groups)}
    is_unsure = (group_of >= 0) & (confidence < _SURE) & ~answered
    worst = np.argsort(confidence, kind="stable")
    bad = np.flatnonzero(is_shown & (group_of < 0))
    names = session.images.names
    unsure = worst[is_unsure[worst]]
    return Gallery(
        groups, members, group_of, confidence, answered, results.moved, names, unsure, bad
    )


def _numbered(groups: tuple[Group, ...]) -> list[tuple[Group, int]]:
    return [(group, number) for number, group in enumerate(groups)]
