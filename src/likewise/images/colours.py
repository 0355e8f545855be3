"""From every way to store colours to RGB with 8 bits: deep, CMYK, palette, transparent, gray."""

from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from likewise.errors import ImageError

_DEEP_MODES = frozenset({"I;16", "I;16L", "I;16B", "I;16N", "I", "F"})
_BITS_PER_SAMPLE = 258  # TIFF tag


def to_rgb(picture: Image.Image) -> Image.Image:
    """Return a loaded `picture` in RGB; what is transparent becomes white.

    Notes
    -----
    Colour profiles are not applied; CMYK is converted by the plain formula.

    Raises
    ------
    ImageError
        If the numbers in it are no colours; the text begins with the reason.
    """
    if picture.mode in _DEEP_MODES:
        return Image.fromarray(_to_8_bits(np.asarray(picture), _bits(picture))).convert("RGB")
    if picture.has_transparency_data:
        return _on_white(picture.convert("RGBA"))
    return picture if picture.mode == "RGB" else picture.convert("RGB")


def _on_white(picture: Image.Image) -> Image.Image:
    white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
    return Image.alpha_composite(white, picture).convert("RGB")


def _bits(picture: Image.Image) -> int:
    """Return how many of the 16 bits are used: some TIFFs keep 12."""
    tags = getattr(picture, "tag_v2", {})
    return min(16, int(tags.get(_BITS_PER_SAMPLE, (16,))[0]))


def _to_8_bits(values: npt.NDArray[Any], bits: int) -> npt.NDArray[np.uint8]:
    """Scale gray values of any depth to 0 .. 255.

    16 bits are scaled from their full range; so are 32-bit integers that fit
    into it, and floats from 0 .. 1. Other numbers have no natural white, and
    are stretched from their least to their greatest.
    """
    low, high = float(values.min()), float(values.max())
    if not np.isfinite([low, high]).all():
        raise ImageError(
            "holds NaN or infinite values, which are no colours; replace them and save it again."
        )
    if values.dtype.kind == "f":
        black, white = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
    else:
        full = 2.0**bits - 1
        black, white = (0.0, full) if low >= 0 and high <= full else (low, high)
    scaled = (values.astype(np.float32) - black) * (255 / ((white - black) or 1))
    gray: npt.NDArray[np.uint8] = np.rint(scaled).astype(np.uint8)
    return gray
