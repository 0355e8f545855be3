"""Convert every color mode (16 bit, float, CMYK, palette, transparent, gray) to 8-bit RGB."""

from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from likewise.errors import ImageError

_DEEP_MODES = frozenset({"I;16", "I;16L", "I;16B", "I;16N", "I", "F"})
_BITS_PER_SAMPLE = 258  # TIFF tag


def to_rgb(image: Image.Image) -> Image.Image:
    """Return a loaded image in RGB; transparent pixels are blended with white.

    Notes
    -----
    Color profiles are not applied; CMYK is converted by the simple formula.

    Raises
    ------
    ImageError
        If pixel values are not finite; the message starts with the reason.
    """
    if image.mode in _DEEP_MODES:
        return Image.fromarray(_to_8_bits(np.asarray(image), _bits(image))).convert("RGB")
    if image.has_transparency_data:
        return _on_white(image.convert("RGBA"))
    return image if image.mode == "RGB" else image.convert("RGB")


def _on_white(image: Image.Image) -> Image.Image:
    white = Image.new("RGBA", image.size, (255, 255, 255, 255))
    return Image.alpha_composite(white, image).convert("RGB")


def _bits(image: Image.Image) -> int:
    """Return the number of bits used, at most 16: some TIFFs use 12."""
    tags = getattr(image, "tag_v2", {})
    return min(16, int(tags.get(_BITS_PER_SAMPLE, (16,))[0]))


def _to_8_bits(values: npt.NDArray[Any], bits: int) -> npt.NDArray[np.uint8]:
    """Scale gray values of any depth to 0 .. 255.

    16-bit values are scaled from their full range, as are 32-bit integers within that range
    and floats within 0 .. 1. Other values are scaled from their minimum to their maximum.
    """
    low, high = float(values.min()), float(values.max())
    if not np.isfinite([low, high]).all():
        raise ImageError("contains NaN or infinite values; replace them and save it again.")
    if values.dtype.kind == "f":
        black, white = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)
    else:
        full = 2.0**bits - 1
        black, white = (0.0, full) if low >= 0 and high <= full else (low, high)
    scaled = (values.astype(np.float32) - black) * (255 / ((white - black) or 1))
    gray: npt.NDArray[np.uint8] = np.rint(scaled).astype(np.uint8)
    return gray
