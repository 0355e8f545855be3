"""Pictures of any size to squares of one size, without jagged edges."""

import numpy as np
from PIL import Image
from PIL.Image import Resampling

from likewise.errors import InvalidParameterError
from likewise.images.collection import Pixels


def resize(pixels: Pixels, size: int) -> Pixels:
    """Return `pixels` stretched or squeezed to a square.

    All of the picture stays in it; its proportions do not.

    Parameters
    ----------
    pixels : array of shape (h, w, 3), uint8
    size : int
        Length of a side in pixels.

    Returns
    -------
    square : array of shape (size, size, 3), uint8
    """
    if size < 1:
        raise InvalidParameterError(f"size={size} is no length of a side; choose at least 1.")
    picture = as_picture(pixels)
    if picture.size == (size, size):
        return pixels.copy()
    # The gap lets whole blocks be averaged first: large photos come out alike, much faster.
    return np.array(picture.resize((size, size), Resampling.BICUBIC, reducing_gap=3.0))


def as_picture(pixels: Pixels) -> Image.Image:
    """Return `pixels` as a Pillow image.

    Raises
    ------
    InvalidParameterError
        If they are not RGB with 8 bits.
    """
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8:
        raise InvalidParameterError(
            f"pixels is {pixels.dtype} of shape {pixels.shape}, not uint8 of shape (h, w, 3); "
            "`decode` gives pictures in this form."
        )
    return Image.fromarray(pixels)
