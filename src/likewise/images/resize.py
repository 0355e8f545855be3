"""Resize images: squares of one size for encoders, thumbnails for display."""

from io import BytesIO
from typing import Literal

import numpy as np
from PIL import Image
from PIL.Image import Resampling

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.images.collection import ImageCollection, Pixels
from likewise.images.files import FileCollection


def resize(pixels: Pixels, size: int) -> Pixels:
    """Return `pixels` resized to a square, without keeping the aspect ratio.

    Parameters
    ----------
    pixels : array of shape (h, w, 3), uint8
    size : int
        Side length in pixels.

    Returns
    -------
    square : array of shape (size, size, 3), uint8
    """
    if size < 1:
        raise InvalidParameterError(f"size must be an integer >= 1, got {size}.")
    image = to_pil(pixels)
    if image.size == (size, size):
        return pixels.copy()
    # With reducing_gap, blocks are averaged first: nearly the same result, much faster.
    return np.array(image.resize((size, size), Resampling.BICUBIC, reducing_gap=3.0))


def square(collection: ImageCollection, index: int, size: int) -> Pixels:
    """Return ``resize(collection.pixels(index), size)``, computed much faster for photos.

    JPEG files are decoded at a scale (a half, a quarter, an eighth) that leaves at least twice
    the requested size; values differ by less than 1 of 255 on average. Do not mix both ways.

    Raises
    ------
    ImageError
        If the image cannot be read.
    """
    if isinstance(collection, FileCollection):
        return resize(collection.pixels(index, at_least=2 * size), size)
    return resize(collection.pixels(index), size)


def thumbnail(
    pixels: Pixels, side: int = 256, *, kind: Literal["jpeg", "webp"] = "webp", quality: int = 80
) -> bytes:
    """Return an encoded image that fits into a square of `side`.

    The aspect ratio is kept and nothing is enlarged. The file contains no metadata, such as
    location or camera.

    Parameters
    ----------
    pixels : array of shape (h, w, 3), uint8
    side : int
        Maximum length of the longer side.
    kind : {"jpeg", "webp"}
    quality : int
        From 1 (small file) to 100 (best quality).
    """
    if side < 1:
        raise InvalidParameterError(f"side must be an integer >= 1, got {side}.")
    if not 1 <= quality <= 100:
        raise InvalidParameterError(f"quality must be between 1 and 100, got {quality}.")
    if kind not in ("jpeg", "webp"):
        raise UnknownNameError("kind of thumbnail", kind, ["jpeg", "webp"])
    image = to_pil(pixels)
    image.thumbnail((side, side), Resampling.BICUBIC)
    out = BytesIO()
    image.save(out, kind.upper(), quality=quality)
    return out.getvalue()


def to_pil(pixels: Pixels) -> Image.Image:
    """Return `pixels` as a Pillow image.

    Raises
    ------
    InvalidParameterError
        If they are not RGB with 8 bits.
    """
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8:
        raise InvalidParameterError(
            f"pixels must be uint8 of shape (h, w, 3), got {pixels.dtype} of shape "
            f"{pixels.shape}; `likewise.images.decoding.decode` returns this form."
        )
    return Image.fromarray(pixels)
