"""The palette facet: which colours a picture has, mostly in its middle."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
from PIL import Image

from likewise.images.collection import Pixels

Floats = npt.NDArray[np.float32]
SIDE = 32  # pixels a side that are counted
_LIGHTNESS, _HUES = 5, 7  # bins of L*, and of each of a* and b*
WIDTH = _LIGHTNESS * _HUES * _HUES
_TO_XYZ = np.array(
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], np.float32
)
_WHITE = np.array([0.9505, 1.0, 1.089], np.float32)
_STRIDES = np.array([_HUES * _HUES, _HUES, 1])  # from a bin to its number
_GREYS = np.arange(256, dtype=np.float32) / 255
_LINEAR = np.where(_GREYS > 0.04045, ((_GREYS + 0.055) / 1.055) ** 2.4, _GREYS / 12.92)


def palettes(pictures: Sequence[Pixels] | Pixels) -> Floats:
    r"""Return a soft histogram of CIE L*a*b* colours for each picture, ``(n, 245)``.

    Notes
    -----
    A network trained to name objects is taught to look past their colour; people sort by it
    all the time. Every pixel of a small copy is shared among the eight nearest bins, weighted by
    :math:`\exp(-2 r^2)` with :math:`r` its distance from the middle in half sides. Rows sum to one.
    """
    if not len(pictures):
        return np.zeros((0, WIDTH), np.float32)
    squares = np.stack([small(picture, SIDE) for picture in pictures])
    lab = to_lab(squares).reshape(len(pictures), -1, 3)
    low, share = _corners(lab)  # each (n, p, 3)
    nearest = low @ _STRIDES + (np.arange(len(pictures)) * WIDTH)[:, None]
    ways = [(1 - share[..., axis], share[..., axis]) for axis in range(3)]
    counts = np.zeros(len(pictures) * WIDTH)
    for corner in np.ndindex(2, 2, 2):
        part = ways[0][corner[0]] * ways[1][corner[1]] * ways[2][corner[2]] * _middle()
        bins = nearest + int(corner @ _STRIDES)
        counts += np.bincount(bins.ravel(), part.ravel(), minlength=counts.size)
    rows = counts.reshape(len(pictures), WIDTH)
    shares: Floats = (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


def small(picture: Pixels, side: int) -> Pixels:
    """Return a square copy in which every pixel is the mean of what it covers."""
    image = Image.fromarray(picture).resize((side, side), Image.Resampling.BOX)
    return np.asarray(image, dtype=np.uint8)


def to_lab(pixels: npt.NDArray[np.uint8]) -> Floats:
    """Return CIE L*a*b* of sRGB, last axis of three."""
    xyz = _LINEAR[pixels] @ _TO_XYZ.T / _WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x_, y_, z_ = f[..., 0], f[..., 1], f[..., 2]
    lab: Floats = np.stack([116 * y_ - 16, 500 * (x_ - y_), 200 * (y_ - z_)], axis=-1)
    return lab


def _corners(lab: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Return the lower bin of each value, and how far it is on the way to the next."""
    lowest = np.array([0.0, -60.0, -60.0], np.float32)
    span = np.array([100.0, 120.0, 120.0], np.float32)
    last = np.array([_LIGHTNESS - 1, _HUES - 1, _HUES - 1])
    place = np.clip((lab - lowest) / span, 0, 1) * last
    low = np.minimum(place.astype(np.intp), last - 1)
    return low, (place - low).astype(np.float32)


@cache
def _middle() -> Floats:
    """Return the weight of each pixel of a square, ``(p,)``."""
    axis = np.linspace(-1, 1, SIDE, dtype=np.float32)
    weights: Floats = np.exp(-2 * (axis[:, None] ** 2 + axis[None, :] ** 2)).ravel()
    return weights
