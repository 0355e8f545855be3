"""`cross`: pictures that show two things side by side, to be sorted by either.

PCL's first figure made data: whoever asks for the left thing has no use for the right one.
"""

import hashlib
from dataclasses import dataclass

import numpy as np

from likewise.benchmark.datasets.dataset import Dataset, Indexes, Labels
from likewise.errors import InvalidParameterError
from likewise.images.collection import ImageCollection, Pixels
from likewise.images.resize import resize
from likewise.images.unreadable import Skipped
from likewise.seeds import stream


class SideBySide:
    """Pictures of two collections in pairs, each a square of `size` pixels.

    Parameters
    ----------
    left, right : ImageCollection
    pairs : array of shape (n, 2)
        Positions in `left` and `right`.
    size : int
        Height of the pictures, and half their width.
    """

    def __init__(
        self, left: ImageCollection, right: ImageCollection, pairs: Indexes, size: int
    ) -> None:
        self._sides, self._pairs, self._size = (left, right), pairs, size
        self.skipped: list[Skipped] = []

    def __len__(self) -> int:
        return len(self._pairs)

    def pixels(self, index: int) -> Pixels:
        """Return one picture (size, 2 size, 3)."""
        positions = self._pairs[index].tolist()
        sides = zip(self._sides, positions, strict=True)
        return np.hstack([resize(side.pixels(position), self._size) for side, position in sides])

    def identity(self, index: int) -> str:
        """Return the SHA-256 of the pixels."""
        return hashlib.sha256(self.pixels(index).tobytes()).hexdigest()

    def name(self, index: int) -> str:
        """Return the names of the two pictures."""
        positions = self._pairs[index].tolist()
        sides = zip(self._sides, positions, strict=True)
        return "+".join(side.name(position) for side, position in sides)


@dataclass(frozen=True)
class Side:
    """What is shown on one side: pictures and what they show."""

    collection: ImageCollection
    labels: Labels

    @classmethod
    def of(cls, dataset: Dataset, orientation: str | None = None) -> "Side":
        """Take a data set's pictures, named by an orientation or by its first."""
        if dataset.collection is None:
            raise InvalidParameterError(
                f"The data set {dataset.name!r} has vectors but no pictures to put side by side; "
                "choose one with pictures."
            )
        return cls(
            dataset.collection, dataset.labels(orientation or next(iter(dataset.orientations)))
        )


def cross(
    left: Side,
    right: Side,
    *,
    n_images: int = 2000,
    size: int = 64,
    seed: int = 0,
    name: str = "cross",
) -> Dataset:
    """Pair random pictures of two sets; the sides have nothing to do with each other.

    No picture is used a second time before all of its side have been used.

    Parameters
    ----------
    left, right : Side
    n_images : int
    size : int
        Height of the pictures, and half their width.
    seed : int
    name : str
        What to call the set.
    """
    if n_images < 1 or size < 1:
        raise InvalidParameterError(
            f"n_images={n_images} and size={size} make no pictures; choose at least 1 for both."
        )
    columns = [
        _draw(len(side.labels), n_images, stream(seed, "cross", place))
        for place, side in (("left", left), ("right", right))
    ]
    collection = SideBySide(left.collection, right.collection, np.stack(columns, axis=1), size)
    labels = {"left": left.labels[columns[0]], "right": right.labels[columns[1]]}
    return Dataset(name, labels, collection)


def _draw(n_pictures: int, n_images: int, rng: np.random.Generator) -> Indexes:
    """Return `n_images` positions: one random order of all pictures after another."""
    rounds = [rng.permutation(n_pictures) for _ in range(-(-n_images // n_pictures))]
    return np.concatenate(rounds)[:n_images].astype(np.intp)
