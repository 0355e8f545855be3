"""The gallery: the images of each group now; and the comparison of two galleries."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.images.collection import displayed_name
from likewise.session.assignments import Snapshot, place_images
from likewise.session.groups import Group
from likewise.session.results import Results, load_results
from likewise.session.session import Session
from likewise.types import Indexes

_CONFIDENT = 0.6  # images with less confidence are listed as unsure


@dataclass(frozen=True)
class GalleryImage:
    """One image in its group."""

    id: int
    name: str
    confidence: float
    answered: bool
    moved: bool


@dataclass(frozen=True)
class Gallery:
    """The images of each group at one time, with all active answers satisfied.

    Parameters
    ----------
    groups : tuple of Group
        Those that were not merged into another, in their permanent order.
    members : dict of str to array
        Positions by the key of the group, answered and confident images first.
    group_of : array of shape (n_images,)
        The index of each image's group in `groups`; -1 if it has none.
    confidence, answered, moved : arrays of shape (n_images,)
    names : list of str
    unsure : array
        Positions of images that were not answered and have a low confidence, lowest first.
    bad, new : arrays
        Positions of images answered with "bad image", and of those no model has seen yet.
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
    new: Indexes

    def images(self, positions: Indexes) -> list[GalleryImage]:
        """Return the images at `positions`."""
        return [
            GalleryImage(
                i,
                displayed_name(self.names[i]),
                round(float(self.confidence[i]), 4),
                bool(self.answered[i]),
                bool(self.moved[i]),
            )
            for i in positions.tolist()
        ]

    def image(self, position: int) -> GalleryImage:
        """Return one image."""
        if not 0 <= position < len(self.names):
            raise InvalidParameterError(
                f"Image {position} is not in this session; images are numbered 0 to "
                f"{len(self.names) - 1}."
            )
        return self.images(np.array([position]))[0]

    def in_group(self, key: str) -> Indexes:
        """Return the positions of the images of a group."""
        if key not in self.members:
            raise UnknownNameError("group", key, self.members)
        return self.members[key]


def make_gallery(session: Session, criterion: str, results: Results) -> Gallery:
    """Return the gallery of a criterion, by its results and the answers now."""
    snapshot = Snapshot.of(session, criterion, results.keys)
    if len(snapshot.first) != len(results.labels):  # images were added in the meantime
        results = load_results(session, criterion) or results
    placement, all_groups = place_images(results, snapshot), snapshot.groups
    keys = [all_groups.resolve(key) for key in results.keys]
    groups = tuple(group for group in all_groups.shown() if group.key in keys)
    index = {group.key: number for number, group in enumerate(groups)}
    index_of_column = np.array([*(index.get(key, -1) for key in keys), -1], dtype=np.intp)
    group_of = np.where(snapshot.present, index_of_column[placement.clusters], -1)
    answered = placement.answered & snapshot.present
    confidence = np.where(snapshot.present, placement.confidence, 0)
    best_first = np.lexsort((-confidence, ~answered))
    is_unsure = (group_of >= 0) & (confidence < _CONFIDENT) & ~answered
    worst_first = np.argsort(confidence, kind="stable")
    return Gallery(
        groups,
        {g.key: best_first[group_of[best_first] == number] for number, g in enumerate(groups)},
        group_of,
        confidence,
        answered,
        results.moved,
        snapshot.names,
        unsure=worst_first[is_unsure[worst_first]],
        bad=np.flatnonzero(snapshot.present & placement.is_bad),
        new=np.flatnonzero(snapshot.present & (group_of < 0) & ~placement.is_bad),
    )


@dataclass(frozen=True)
class Comparison:
    """Two groupings of the same images: their contingency table, with examples.

    Parameters
    ----------
    rows, columns : tuple of Group
        The groups of the first and of the second gallery.
    counts : array of shape (rows, columns)
        The number of images that are in both groups.
    images : list of list of array
        Some of these images, the most confident first.
    n_images : int
        Images that are in a group of both galleries.
    ari, nmi : float
        Adjusted Rand index and normalized mutual information: 1 for equal groupings, 0 for
        independent ones.
    """

    rows: tuple[Group, ...]
    columns: tuple[Group, ...]
    counts: npt.NDArray[np.intp]
    images: list[list[Indexes]]
    n_images: int
    ari: float
    nmi: float


def compare(first: Gallery, second: Gallery, n_shown: int = 6) -> Comparison:
    """Return the comparison of two galleries, with at most `n_shown` images per cell."""
    from likewise.metrics import ari, nmi  # scikit-learn: not needed to start the server

    n = min(len(first.group_of), len(second.group_of))  # one may be newer and have more images
    one, other = first.group_of[:n], second.group_of[:n]
    both = np.flatnonzero((one >= 0) & (other >= 0))
    counts = np.zeros((len(first.groups), len(second.groups)), dtype=np.intp)
    np.add.at(counts, (one[both], other[both]), 1)
    confidence = first.confidence[:n][both] + second.confidence[:n][both]
    best_first = both[np.argsort(-confidence, kind="stable")]
    row_of, column_of = one[best_first], other[best_first]
    images = [
        [
            best_first[(row_of == row) & (column_of == column)][:n_shown]
            for column in range(len(second.groups))
        ]
        for row in range(len(first.groups))
    ]
    scores = (ari(one[both], other[both]), nmi(one[both], other[both])) if len(both) else (0.0, 0.0)
    return Comparison(first.groups, second.groups, counts, images, len(both), *scores)
