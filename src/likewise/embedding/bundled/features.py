"""Features computed with NumPy: color histograms and grids, pooled maps, patch vectors."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
from PIL import Image

from likewise.images.collection import Pixels
from likewise.types import Floats

GRID_SIDE = 3
GRID_CELLS = GRID_SIDE * GRID_SIDE
HISTOGRAM_SIDE = 32  # pixels per side that are counted
_LIGHTNESS_BINS, _CHROMA_BINS = 5, 7  # of L*, and of each of a* and b*
COLOR_BINS = _LIGHTNESS_BINS * _CHROMA_BINS * _CHROMA_BINS
COLOR_GRID_SIDE = 16
COLOR_GRID = COLOR_GRID_SIDE * COLOR_GRID_SIDE, 3  # positions, and L*, a*, b* of each
_LAB_CENTER = np.array([50.0, 0.0, 0.0], np.float32)
_LAB_UNIT = np.array([6.5, 10.0, 10.0], np.float32)  # 8 units cover nearly all colors
_TO_XYZ = np.array(
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], np.float32
)
_WHITE = np.array([0.9505, 1.0, 1.089], np.float32)
_BIN_STRIDES = np.array([_CHROMA_BINS * _CHROMA_BINS, _CHROMA_BINS, 1])
_GRAYS = np.arange(256, dtype=np.float32) / 255
_LINEAR = np.where(_GRAYS > 0.04045, ((_GRAYS + 0.055) / 1.055) ** 2.4, _GRAYS / 12.92)


def color_histograms(images: Sequence[Pixels] | Pixels) -> Floats:
    r"""Return a soft histogram of CIE L*a*b* colors for each image, ``(n, 245)``.

    Notes
    -----
    A network trained to name objects learns to ignore color; people often group by it. Every
    pixel of a small copy is divided among the eight nearest bins, with the weight
    :math:`\exp(-2 r^2)` at distance :math:`r` (in half sides) from the center. Rows sum to one.
    """
    if not len(images):
        return np.zeros((0, COLOR_BINS), np.float32)
    lab = to_lab(np.stack([_downscale(image, HISTOGRAM_SIDE) for image in images]))
    low, share = _lower_bins(lab.reshape(len(images), -1, 3))  # each (n, p, 3)
    nearest = low @ _BIN_STRIDES + (np.arange(len(images)) * COLOR_BINS)[:, None]
    shares = [(1 - share[..., axis], share[..., axis]) for axis in range(3)]
    counts = np.zeros(len(images) * COLOR_BINS)
    for corner in np.ndindex(2, 2, 2):
        weight = shares[0][corner[0]] * shares[1][corner[1]] * shares[2][corner[2]]
        weight = weight * _center_weights()
        bins = nearest + int(corner @ _BIN_STRIDES)
        counts += np.bincount(bins.ravel(), weight.ravel(), minlength=counts.size)
    rows = counts.reshape(len(images), COLOR_BINS)
    histograms: Floats = (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)
    return histograms


def color_grids(images: Sequence[Pixels] | Pixels) -> Floats:
    """Return CIE L*a*b* at 16 x 16 positions, ``(n, 768)``, scaled to about unit variance."""
    if not len(images):
        return np.zeros((0, COLOR_GRID[0] * COLOR_GRID[1]), np.float32)
    lab = to_lab(np.stack([_downscale(image, COLOR_GRID_SIDE) for image in images]))
    scaled: Floats = ((lab - _LAB_CENTER) / _LAB_UNIT).reshape(len(images), -1)
    return scaled


def to_lab(pixels: npt.NDArray[np.uint8]) -> Floats:
    """Return CIE L*a*b* of sRGB; the last axis has length three."""
    xyz = _LINEAR[pixels] @ _TO_XYZ.T / _WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x_, y_, z_ = f[..., 0], f[..., 1], f[..., 2]
    lab: Floats = np.stack([116 * y_ - 16, 500 * (x_ - y_), 200 * (y_ - z_)], axis=-1)
    return lab


def mean_and_std(mean: Floats, square: Floats) -> Floats:
    """Return mean and standard deviation side by side, from the means of x and of x²."""
    std = np.sqrt(np.maximum(square - mean * mean, 0))  # negative only by rounding
    return np.concatenate([mean, std], axis=1)


def grid_means(maps: Floats) -> Floats:
    """Return the mean of each cell of a 3 x 3 grid over maps ``(b, c, h, w)``, ``(b, 9 c)``.

    The cells of a side that is not divisible by three overlap by one position.
    """
    rows, columns = (_cells(side) for side in maps.shape[2:])
    cells = [maps[:, :, row, column].mean((2, 3)) for row in rows for column in columns]
    pooled: Floats = np.stack(cells, axis=2).reshape(len(maps), -1)
    return pooled


def standardized_patches(
    maps: Sequence[Floats], statistics: Sequence[tuple[Floats, Floats]]
) -> Floats:
    """Return maps ``(b, c, h, w)`` position by position, standardized, ``(b, h w (c + c'))``.

    Parameters
    ----------
    maps : sequence of arrays
        All of the same height and width.
    statistics : sequence of (mean, standard deviation), each of shape (c,)
    """
    patches = [
        (values.reshape(*values.shape[:2], -1).transpose(0, 2, 1) - mean) / std  # (b, h w, c)
        for values, (mean, std) in zip(maps, statistics, strict=True)
    ]
    return np.concatenate(patches, axis=2).reshape(len(maps[0]), -1)


def _cells(side: int) -> list[slice]:
    return [slice(i * side // GRID_SIDE, -(-(i + 1) * side // GRID_SIDE)) for i in range(GRID_SIDE)]


def _downscale(image: Pixels, side: int) -> Pixels:
    """Return a square copy in which every pixel is the mean of the area it covers."""
    small = Image.fromarray(image).resize((side, side), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.uint8)


def _lower_bins(lab: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Return the lower bin of each value, and the fraction that belongs to the next bin."""
    lowest = np.array([0.0, -60.0, -60.0], np.float32)
    span = np.array([100.0, 120.0, 120.0], np.float32)
    last = np.array([_LIGHTNESS_BINS - 1, _CHROMA_BINS - 1, _CHROMA_BINS - 1])
    position = np.clip((lab - lowest) / span, 0, 1) * last
    low = np.minimum(position.astype(np.intp), last - 1)
    return low, (position - low).astype(np.float32)


@cache
def _center_weights() -> Floats:
    """Return the weight of each pixel of a square, ``(p,)``."""
    axis = np.linspace(-1, 1, HISTOGRAM_SIDE, dtype=np.float32)
    weights: Floats = np.exp(-2 * (axis[:, None] ** 2 + axis[None, :] ** 2)).ravel()
    return weights
