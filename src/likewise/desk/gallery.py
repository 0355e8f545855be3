"""Where every picture is now, group by group: what the page and other programs show."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.session.assignments import Snapshot, place_images
from likewise.session.groups import Group
from likewise.session.results import Results, load_results
from likewise.session.session import Session
from likewise.types import Indexes

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
    bad, fresh : arrays
        Positions of pictures that people called bad; of those that no model has seen yet.
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
    fresh: Indexes

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

    def about(self, position: int) -> Placed:
        """Return what is known of one picture."""
        if not 0 <= position < len(self.names):
            raise InvalidParameterError(
                f"Image {position} is not in this session; it has 0 to {len(self.names) - 1}."
            )
        return self.show(np.array([position]))[0]

    def of(self, key: str) -> Indexes:
        """Return the members of a group."""
        if key not in self.members:
            raise UnknownNameError("group", key, self.members)
        return self.members[key]


def make_gallery(session: Session, orientation: str, results: Results) -> Gallery:
    """Return the gallery of an orientation that has results."""
    moment = Snapshot.of(session, orientation, results.keys)
    if len(moment.first) != len(results.labels):  # new pictures were found at this very moment
        results = load_results(session, orientation) or results
    found, made = place_images(results, moment), moment.groups
    keys = [made.resolve(key) for key in results.keys]
    groups = tuple(group for group in made.shown() if group.key in keys)
    place = {group.key: number for number, group in enumerate(groups)}
    place_of = np.array([*(place.get(key, -1) for key in keys), -1], dtype=np.intp)
    group_of = np.where(moment.present, place_of[found.clusters], -1)
    answered = found.answered & moment.present
    sure = np.where(moment.present, found.confidence, 0)
    surest = np.lexsort((-sure, ~answered))
    members = {g.key: surest[group_of[surest] == number] for number, g in enumerate(groups)}
    is_unsure = (group_of >= 0) & (sure < _SURE) & ~answered
    worst = np.argsort(sure, kind="stable")
    return Gallery(
        groups,
        members,
        group_of,
        sure,
        answered,
        results.moved,
        moment.names,
        unsure=worst[is_unsure[worst]],
        bad=np.flatnonzero(moment.present & found.is_bad),
        fresh=np.flatnonzero(moment.present & (group_of < 0) & ~found.is_bad),
    )
