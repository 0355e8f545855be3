"""Data sets that need no files: `scenes` (rendered here), `digits` and `cross`.

All arithmetic of the renderer is on arrays in double precision, so that the same random numbers
give the same bytes on every machine.
"""

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from likewise.errors import InvalidParameterError
from likewise.images.collection import ImageCollection, Pixels, Skipped
from likewise.images.in_memory import ArrayCollection
from likewise.images.resize import resize
from likewise.random_streams import stream
from likewise_bench.datasets.base import Dataset, Indexes, Labels

Floats = npt.NDArray[np.float64]
Texts = npt.NDArray[np.str_]

#: Points and inner radius (outer = 1) of each shape; every shape is drawn as a star polygon.
SHAPES: Mapping[str, tuple[int, float]] = {
    "disc": (48, float(np.cos(np.pi / 48))),
    "square": (4, float(np.cos(np.pi / 4))),
    "triangle": (3, 0.5),
    "star": (5, 0.45),
}
COLOURS: Mapping[str, Sequence[float]] = {
    "red": (0.82, 0.16, 0.15),
    "yellow": (0.97, 0.84, 0.18),
    "blue": (0.13, 0.22, 0.68),
    "black": (0.10, 0.10, 0.11),
}
#: Both colours of each background.
BACKGROUNDS: Mapping[str, Sequence[Sequence[float]]] = {
    "sky": ((0.33, 0.60, 0.88), (0.84, 0.92, 0.98)),
    "stripes": ((0.93, 0.88, 0.76), (0.78, 0.60, 0.45)),
    "tiles": ((0.88, 0.88, 0.90), (0.60, 0.62, 0.66)),
    "meadow": ((0.28, 0.52, 0.24), (0.58, 0.76, 0.38)),
}
#: Range of the radius, in pixels, of the disc with the area of the shape.
SIZES: Mapping[str, tuple[float, float]] = {"small": (7.5, 9.5), "large": (13.0, 15.5)}
PIXELS = 64
_FINE = 2  # each pixel is the mean of _FINE x _FINE points
_REACH = 1.56  # largest outer radius of a shape, relative to the disc of the same area


@dataclass(frozen=True)
class Draws:
    """Random parameters of each image, uniform in [0, 1); rows are images."""

    pose: Floats  # (b, 5) rotation, x, y, size, direction of the light
    texture: Floats  # (b, 4) rotation, period, two phases
    tint: Floats  # (b, 3, 3) shape and both background colours
    patches: Floats  # (b, 9, 9) the meadow
    grain: Floats  # (b, PIXELS, PIXELS)

    @classmethod
    def make(cls, rng: np.random.Generator, n: int) -> "Draws":
        """Draw the parameters of `n` images."""
        shapes = ((5,), (4,), (3, 3), (9, 9), (PIXELS, PIXELS))
        return cls(*(rng.random((n, *shape)) for shape in shapes))


def paint(shapes: Texts, colours: Texts, backgrounds: Texts, sizes: Texts, draws: Draws) -> Floats:
    """Return images (b, PIXELS, PIXELS, 3) with values in [0, 1]; names are keys of the tables."""
    tint = (draws.tint - 0.5) * 0.14
    fill = np.array([COLOURS[name] for name in colours]) + tint[:, 0]  # (b, 3)
    ground = np.array([BACKGROUNDS[name] for name in backgrounds]) + tint[:, 1:]  # (b, 2, 3)
    across, down = _positions()
    cover, light = (_coarse(part)[..., None] for part in _shape(shapes, sizes, draws, across, down))
    weave = _coarse(_background(backgrounds, draws, across, down))[..., None]
    behind = ground[:, None, None, 0] * (1 - weave) + ground[:, None, None, 1] * weave
    images = behind * (1 - cover) + fill[:, None, None] * light * cover
    images += (draws.grain[..., None] - 0.5) * 0.06
    clipped: Floats = images.clip(0, 1)
    return clipped


def _positions() -> tuple[Floats, Floats]:
    """Return the subpixel grid: x (1, 1, p) and y (1, p, 1), in pixels."""
    points = (np.arange(PIXELS * _FINE) + 0.5) / _FINE
    return points[None, None, :], points[None, :, None]


def _coarse(fine: Floats) -> Floats:
    """Return the means of _FINE x _FINE subpixels: (b, p, p) to (b, PIXELS, PIXELS)."""
    corners = [fine[:, i::_FINE, j::_FINE] for i in range(_FINE) for j in range(_FINE)]
    total: Floats = sum(corners[1:], start=corners[0])
    return total / len(corners)


def _shape(
    shapes: Texts, sizes: Texts, draws: Draws, across: Floats, down: Floats
) -> tuple[Floats, Floats]:
    """Return the coverage of the shape at each subpixel (b, p, p), and its shading.

    All shapes of a size have the same area and the same range of positions, so neither reveals
    the shape.
    """
    turn, x, y, size, lamp = _columns(draws.pose)
    low, high = np.array([SIZES[name] for name in sizes]).T[:, :, None, None]
    radius = low + (high - low) * size
    margin = _REACH * high
    dx = across - (margin + (PIXELS - 2 * margin) * x)
    dy = down - (margin + (PIXELS - 2 * margin) * y)
    distance = np.hypot(dx, dy)
    edge = radius * _edge(shapes, np.arctan2(dy, dx) + 2 * np.pi * turn)
    slope = (dx * np.cos(2 * np.pi * lamp) + dy * np.sin(2 * np.pi * lamp)) / radius
    return (edge - distance + 0.5).clip(0, 1), 1 + 0.12 * slope


def _edge(shapes: Texts, angle: Floats) -> Floats:
    """Return the radius of the outline in each direction; shapes have the area of the unit disc.

    Between an outer corner at angle 0, radius R and an inner corner at angle β, radius qR the
    edge is straight: 1/ρ = [sin(β - φ) + sin(φ)/q] / (R sin β), a sine shifted by δ.
    The area is n q R² sin β.
    """
    points, inner = np.array([SHAPES[name] for name in shapes]).T[:, :, None, None]
    beta = np.pi / points
    outer = np.sqrt(np.pi / (points * inner * np.sin(beta)))
    rest = 1 / inner - np.cos(beta)
    delta, height = np.arctan2(np.sin(beta), rest), np.hypot(np.sin(beta), rest)
    phi = np.abs(angle - 2 * beta * np.rint(angle / (2 * beta)))  # folded onto 0 .. β
    reach: Floats = (outer * np.sin(beta) / height) / np.sin(phi + delta)
    return reach


def _background(names: Texts, draws: Draws, across: Floats, down: Floats) -> Floats:
    """Return the fraction of the second colour at each subpixel (b, p, p)."""
    weave = np.empty((len(names), PIXELS * _FINE, PIXELS * _FINE))
    for name, texture in _TEXTURES.items():
        rows = names == name
        if rows.any():
            weave[rows] = texture(draws.texture[rows], draws.patches[rows], across, down)
    return weave


def _sky(texture: Floats, patches: Floats, across: Floats, down: Floats) -> Floats:
    """Vertical gradient, slightly tilted."""
    turn, steep, shift, _ = _columns(texture)
    aslant = (turn - 0.5) * 0.5 * (across / PIXELS - 0.5)
    height = down / PIXELS + aslant + (shift - 0.5) * 0.3
    fade: Floats = ((height - 0.5) * (0.8 + 0.6 * steep) + 0.5).clip(0, 1)
    return fade


def _stripes(texture: Floats, patches: Floats, across: Floats, down: Floats) -> Floats:
    """Stripes of one width in a random direction."""
    turn, width, phase, _ = _columns(texture)
    along = across * np.cos(np.pi * turn) + down * np.sin(np.pi * turn)
    return _wave(along, 8 + 6 * width, phase)


def _tiles(texture: Floats, patches: Floats, across: Floats, down: Floats) -> Floats:
    """Checkerboard, slightly rotated."""
    turn, width, phase, other = _columns(texture)
    angle = (turn - 0.5) * np.pi / 4
    first = _wave(across * np.cos(angle) + down * np.sin(angle), 14 + 8 * width, phase)
    second = _wave(down * np.cos(angle) - across * np.sin(angle), 14 + 8 * width, other)
    return first * (1 - second) + second * (1 - first)


def _meadow(texture: Floats, patches: Floats, across: Floats, down: Floats) -> Floats:
    """Smoothed random patches."""
    cells = patches.shape[1] - 1
    at = across[0, 0] * (cells / PIXELS)
    low = at.astype(np.intp)
    part = at - low
    rows = patches[:, low] * (1 - part)[None, :, None] + patches[:, low + 1] * part[None, :, None]
    blend: Floats = rows[:, :, low] * (1 - part) + rows[:, :, low + 1] * part
    return blend


_TEXTURES = {"sky": _sky, "stripes": _stripes, "tiles": _tiles, "meadow": _meadow}


def _wave(along: Floats, period: Floats, phase: Floats) -> Floats:
    """Return a square wave with edges one pixel wide."""
    place = along / period + phase
    from_crest = np.abs(place - np.rint(place))  # 0 .. 0.5 of a period
    wave: Floats = (0.5 + (0.25 - from_crest) * period).clip(0, 1)
    return wave


def _columns(table: Floats) -> Floats:
    """Return the columns, each of shape (b, 1, 1) for broadcasting."""
    return table.T[:, :, None, None]


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
