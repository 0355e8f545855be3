"""Data sets that need no files: `scenes`, `digits` and `cross`."""

import hashlib
import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from likewise.errors import InvalidParameterError
from likewise.images.arrays import ArrayCollection
from likewise.images.collection import ImageCollection, Pixels, Skipped
from likewise.images.resize import resize
from likewise.random_streams import stream
from likewise_bench.datasets.base import Dataset, Indexes, Labels
from likewise_bench.datasets.scene_renderer import BACKGROUNDS, COLOURS, SHAPES, SIZES, Draws, paint

VERSION = 1
#: Every criterion with its values, in order.
FACTORS = {
    "shape": tuple(SHAPES),
    "colour": tuple(COLOURS),
    "background": tuple(BACKGROUNDS),
    "size": tuple(SIZES),
}
_COMBINATIONS = np.array(list(itertools.product(*FACTORS.values())))  # (128, 4)
BLOCK = len(_COMBINATIONS)


def make_scenes(
    n_images: int, *, seed: int = 0
) -> tuple[npt.NDArray[np.uint8], dict[str, npt.NDArray[np.str_]]]:
    """Render `n_images` scenes; return pixels (n, 64, 64, 3) and the labels of each criterion.

    Every block of 128 images has each combination once, in random order. The first images of a
    seed do not depend on `n_images`.

    Examples
    --------
    >>> images, criteria = make_scenes(128, seed=0)
    >>> images.shape, sorted(criteria)
    ((128, 64, 64, 3), ['background', 'colour', 'shape', 'size'])
    """
    if n_images < 1:
        raise InvalidParameterError(f"n_images must be >= 1, got {n_images}.")
    blocks = [_block(seed, number) for number in range(-(-n_images // BLOCK))]
    images = np.concatenate([images for images, _ in blocks])[:n_images]
    labels = np.concatenate([labels for _, labels in blocks])[:n_images]
    return images, {name: labels[:, column] for column, name in enumerate(FACTORS)}


def _block(seed: int, number: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.str_]]:
    """Return the images and labels (128, 4) of one block."""
    labels = stream(seed, "scenes", VERSION, "order", number).permutation(_COMBINATIONS)
    draws = Draws.make(stream(seed, "scenes", VERSION, "draws", number), BLOCK)
    shapes, colours, backgrounds, sizes = labels.T
    images = paint(shapes, colours, backgrounds, sizes, draws)
    return np.floor(images * 255 + 0.5).astype(np.uint8), labels


class SideBySide:
    """Pairs of images of two collections side by side, each a square of `size` pixels.

    Parameters
    ----------
    left, right : ImageCollection
    pairs : array of shape (n, 2)
        Indexes in `left` and `right`.
    size : int
        Height of the images, and half their width.
    """

    def __init__(
        self, left: ImageCollection, right: ImageCollection, pairs: Indexes, size: int
    ) -> None:
        self._sides, self._pairs, self._size = (left, right), pairs, size
        self.skipped: list[Skipped] = []

    def __len__(self) -> int:
        return len(self._pairs)

    def pixels(self, index: int) -> Pixels:
        """Return one image (size, 2 size, 3)."""
        positions = self._pairs[index].tolist()
        sides = zip(self._sides, positions, strict=True)
        return np.hstack([resize(side.pixels(position), self._size) for side, position in sides])

    def identity(self, index: int) -> str:
        """Return the SHA-256 of the pixels."""
        return hashlib.sha256(self.pixels(index).tobytes()).hexdigest()

    def name(self, index: int) -> str:
        """Return the names of the two images."""
        positions = self._pairs[index].tolist()
        sides = zip(self._sides, positions, strict=True)
        return "+".join(side.name(position) for side, position in sides)


@dataclass(frozen=True)
class Side:
    """One side of a pair: images and their labels."""

    collection: ImageCollection
    labels: Labels

    @classmethod
    def of(cls, dataset: Dataset, criterion: str | None = None) -> "Side":
        """Return the images of a data set with the labels of a criterion, by default the first."""
        if dataset.collection is None:
            raise InvalidParameterError(
                f"The data set {dataset.name!r} has only vectors, no images; choose "
                "a data set with images."
            )
        return cls(dataset.collection, dataset.labels(criterion or next(iter(dataset.criteria))))


def cross(
    left: Side,
    right: Side,
    *,
    n_images: int = 2000,
    size: int = 64,
    seed: int = 0,
    name: str = "cross",
) -> Dataset:
    """Pair random images of two data sets; the sides are independent.

    No image of a side is repeated before all of its images have been used.

    Parameters
    ----------
    left, right : Side
    n_images : int
    size : int
        Height of the images, and half their width.
    seed : int
    name : str
        Name of the data set.
    """
    if n_images < 1 or size < 1:
        raise InvalidParameterError(f"n_images and size must be >= 1, got {n_images} and {size}.")
    columns = [
        _draw(len(side.labels), n_images, stream(seed, "cross", place))
        for place, side in (("left", left), ("right", right))
    ]
    collection = SideBySide(left.collection, right.collection, np.stack(columns, axis=1), size)
    labels = {"left": left.labels[columns[0]], "right": right.labels[columns[1]]}
    return Dataset(name, labels, collection)


def _draw(n_available: int, n_images: int, rng: np.random.Generator) -> Indexes:
    """Return `n_images` positions: concatenated random permutations of all images."""
    rounds = [rng.permutation(n_available) for _ in range(-(-n_images // n_available))]
    return np.concatenate(rounds)[:n_images].astype(np.intp)


def load_scenes(data: Path | None = None, *, n_images: int = 2048, seed: int = 0) -> Dataset:
    """Render the data set `scenes`; `data` is not used."""
    images, criteria = make_scenes(n_images, seed=seed)
    return Dataset("scenes", criteria, ArrayCollection(images))


def load_digits(data: Path | None = None) -> Dataset:
    """Return 1,797 handwritten digits of 8 x 8 pixels, as images and as vectors.

    The criteria are `digit`, `parity` and `half`; the classes of the last two are unions of
    dissimilar digits.
    """
    from sklearn import datasets

    bunch = datasets.load_digits()
    digits = bunch.target
    criteria = {
        "digit": digits.astype(np.str_),
        "parity": np.where(digits % 2 == 0, "even", "odd"),
        "half": np.where(digits < 5, "0 to 4", "5 to 9"),
    }
    grey = np.rint(bunch.images * (255 / 16)).astype(np.uint8)
    vectors = (bunch.data / 16).astype(np.float32)
    return Dataset("digits", criteria, ArrayCollection(grey), vectors)
