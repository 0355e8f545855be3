"""The gallery: the images of each group in the order shown; two criteria compared; the 2-D map."""

import contextlib
import os
import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.images.collection import displayed_name
from likewise.session.assignments import Snapshot, place_images
from likewise.session.atomic import make_folder, write_atomic
from likewise.session.groups import Group
from likewise.session.images import Images
from likewise.session.results import ARRAY_ERRORS, Results, load_results
from likewise.session.session import Session
from likewise.types import Floats, Indexes

_CONFIDENT = 0.6  # images with less confidence are listed as unsure


Order = Literal["surest", "unsure", "newest", "name"]
Shown = Literal["all", "review", "unsure", "placed", "moved"]


@dataclass(frozen=True)
class GalleryImage:
    """One image in its group."""

    id: int
    name: str
    confidence: float
    answered: bool
    placed: bool
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
    confidence, moved : arrays of shape (n_images,)
    answered, placed : arrays of shape (n_images,)
        Whether an active answer contains the image, and whether one puts it into its group.
    names : list of str
    unsure : array
        Positions of images that were not answered and have a low confidence, lowest first.
    bad, new : arrays
        Positions of images answered with "bad image", and of those no model has seen yet.
    left_out : frozenset of str
        The keys of groups that the last training did not use.
    """

    groups: tuple[Group, ...]
    members: dict[str, Indexes]
    group_of: Indexes
    confidence: npt.NDArray[np.float32]
    answered: npt.NDArray[np.bool_]
    placed: npt.NDArray[np.bool_]
    moved: npt.NDArray[np.bool_]
    names: list[str]
    unsure: Indexes
    bad: Indexes
    new: Indexes
    left_out: frozenset[str]

    def images(self, positions: Indexes) -> list[GalleryImage]:
        """Return the images at `positions`."""
        return [
            GalleryImage(
                i,
                displayed_name(self.names[i]),
                round(float(self.confidence[i]), 4),
                bool(self.answered[i]),
                bool(self.placed[i]),
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

    def group_key(self, position: int) -> str | None:
        """Return the key of the group of an image, None if it has none."""
        number = int(self.group_of[position])
        return self.groups[number].key if number >= 0 else None

    def in_group(self, key: str) -> Indexes:
        """Return the positions of the images of a group; none if the last training left it out."""
        if key in self.left_out:
            return np.array([], dtype=np.intp)
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
    placed = np.zeros_like(answered)
    placed[list(snapshot.pinned)] = True
    placed = placed[snapshot.first]  # copies too
    is_unsure = (group_of >= 0) & (confidence < _CONFIDENT) & ~answered
    worst_first = np.argsort(confidence, kind="stable")
    return Gallery(
        groups,
        {g.key: best_first[group_of[best_first] == number] for number, g in enumerate(groups)},
        group_of,
        confidence,
        answered,
        placed & snapshot.present,
        results.moved,
        snapshot.names,
        unsure=worst_first[is_unsure[worst_first]],
        bad=np.flatnonzero(snapshot.present & placement.is_bad),
        new=np.flatnonzero(snapshot.present & (group_of < 0) & ~placement.is_bad),
        left_out=frozenset(group.key for group in all_groups.shown()) - index.keys(),
    )


@dataclass(frozen=True)
class GalleryQuery:
    """Which images of a gallery are shown, and in which order.

    Parameters
    ----------
    order : {"surest", "unsure", "newest", "name"}
        Answered images are the surest. Numbers in names are ordered by their value.
    only : {"all", "review", "unsure", "placed", "moved"}
        For review are the `n_review` least sure images in no answer. Placed are those that an
        answer puts into a group. Unsure are those in no answer that have a confidence less than
        `below`.
    below : float
    n_review : int
    search : str
        Words that a file name must contain; upper and lower case are equal.
    """

    order: Order = "surest"
    only: Shown = "all"
    below: float = 0.6
    n_review: int = 0
    search: str = ""

    def select(self, gallery: Gallery, images: Images) -> npt.NDArray[np.intp]:
        """Return the positions of the images that are shown, in their order."""
        ordered = self._ordered(gallery, images)
        is_shown = {
            "all": np.ones_like(gallery.answered),
            "review": self._to_review(gallery),
            "unsure": ~gallery.answered & (gallery.confidence < self.below),
            "placed": gallery.placed,
            "moved": gallery.moved,
        }[self.only]
        ordered = ordered[is_shown[ordered]]
        words = self.search.casefold().split()
        if not words:
            return ordered
        names = [displayed_name(gallery.names[i]).casefold() for i in ordered.tolist()]
        matches = np.array([all(word in name for word in words) for name in names], dtype=np.bool_)
        return np.asarray(ordered[matches], dtype=np.intp)

    def _to_review(self, gallery: Gallery) -> npt.NDArray[np.bool_]:
        candidates = np.flatnonzero((gallery.group_of >= 0) & ~gallery.answered)
        order = np.argsort(gallery.confidence[candidates], kind="stable")
        chosen = np.zeros_like(gallery.answered)
        chosen[candidates[order[: self.n_review]]] = True
        return chosen

    def _ordered(self, gallery: Gallery, images: Images) -> npt.NDArray[np.intp]:
        if self.order == "name":
            keys = [natural_key(name) for name in gallery.names]
            return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
        if self.order == "newest":
            changed_at = images.changed_at()[: len(gallery.names)]
            return np.argsort(-changed_at, kind="stable")
        direction = -1 if self.order == "surest" else 1
        certain = ~gallery.answered if self.order == "surest" else gallery.answered
        return np.lexsort((direction * gallery.confidence, certain))


def natural_key(name: str) -> list[tuple[int, str]]:
    """Return a key to sort file names by, in which numbers are compared by their value.

    Examples
    --------
    >>> sorted(["b10.png", "b9.png", "A1.png"], key=natural_key)
    ['A1.png', 'b9.png', 'b10.png']
    """
    parts = re.split(r"([0-9]{1,18})", name.casefold())
    return [(int(part), "") if i % 2 else (-1, part) for i, part in enumerate(parts)]


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


FILE = "map.npz"
SCALE = 10_000  # coordinates are integers from 0 to this
_TOTAL_WEIGHT = 0.3  # weight of the total scatter, relative to the between-group scatter


def project_2d(rows: Floats, groups: Indexes) -> npt.NDArray[np.uint16]:
    """Return the coordinates of each row on the map, (n, 2), from 0 to `SCALE`.

    The axes are the two leading eigenvectors of the between-group scatter plus a smaller part
    of the total scatter, which determines the second axis where there are two groups or the
    groups hardly differ. The outermost 0.2 % on each side are clipped to the border.

    Parameters
    ----------
    rows : array of shape (n, d)
    groups : array of shape (n,)
    """
    centred = rows - rows.mean(axis=0)
    means = _weighted_means(centred, groups)
    scatter = _unit_trace(means.T @ means) + _TOTAL_WEIGHT * _unit_trace(centred.T @ centred)
    _, directions = np.linalg.eigh(scatter)
    plane = centred @ directions[:, -2:][:, ::-1]
    if plane.shape[1] == 1:
        plane = np.concatenate([plane, np.zeros_like(plane)], axis=1)
    plane = plane * np.where(plane[np.abs(plane).argmax(axis=0), [0, 1]] < 0, -1, 1)
    low, high = np.quantile(plane, [0.002, 0.998], axis=0)
    unit = (plane - low) / np.maximum(high - low, 1e-9)
    return np.asarray(np.clip(0.02 + 0.96 * unit, 0, 1) * SCALE, dtype=np.uint16)


def _weighted_means(rows: Floats, groups: Indexes) -> Floats:
    """Return the mean of each group times the square root of its size."""
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    return np.stack([rows[one].sum(axis=0) / np.sqrt(len(one)) for one in members])


def _unit_trace(scatter: Floats) -> Floats:
    """Return a scatter matrix divided by its trace; a zero matrix stays zero."""
    return np.asarray(scatter / max(float(np.trace(scatter)), 1e-12), dtype=scatter.dtype)


def save_map(
    session: Session, criterion: str, positions: Indexes, places: npt.NDArray[np.uint16]
) -> None:
    """Save the map of a criterion: the positions of the images and their coordinates."""
    folder = session.model_folder(criterion)
    make_folder(folder)

    def write(descriptor: int) -> None:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            np.savez(stream, positions=positions, places=places)

    write_atomic(folder / FILE, write)


def load_map(session: Session, criterion: str) -> tuple[Indexes, npt.NDArray[np.uint16]]:
    """Return positions and coordinates; both are empty before the first training.

    They are also empty, until the next training, if the file is damaged.
    """
    path, n_images = session.model_folder(criterion) / FILE, len(session.images)
    with contextlib.suppress(*ARRAY_ERRORS), np.load(path, allow_pickle=False) as file:
        positions, places = file["positions"], file["places"]
        is_valid = positions.dtype.kind == "i" and places.dtype == np.uint16
        has_shape = positions.ndim == 1 and places.shape == (len(positions), 2)
        if is_valid and has_shape and np.all((positions >= 0) & (positions < n_images)):
            return positions.astype(np.intp), places
    return np.zeros(0, dtype=np.intp), np.zeros((0, 2), dtype=np.uint16)
