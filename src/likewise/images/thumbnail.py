"""Small copies of pictures for the page: a few kilobytes, and nothing of the camera's notes."""

from io import BytesIO
from typing import Literal

from PIL.Image import Resampling

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.images.collection import Pixels
from likewise.images.resize import as_picture


def thumbnail(
    pixels: Pixels, side: int = 256, *, kind: Literal["jpeg", "webp"] = "webp", quality: int = 80
) -> bytes:
    """Return a picture that fits into a square of `side`, as the bytes of a file.

    Proportions are kept and nothing is enlarged. Place, camera and all other
    metadata are gone, since only pixels come in.

    Parameters
    ----------
    pixels : array of shape (h, w, 3), uint8
    side : int
        The longer side of the thumbnail is at most this long.
    kind : {"jpeg", "webp"}
    quality : int
        From 1 (small) to 100 (faithful).
    """
    if side < 1:
        raise InvalidParameterError(f"side={side} is no length; choose at least 1.")
    if not 1 <= quality <= 100:
        raise InvalidParameterError(f"quality={quality} is not within 1 .. 100; 80 is usual.")
    if kind not in ("jpeg", "webp"):
        raise UnknownNameError("kind of thumbnail", kind, ["jpeg", "webp"])
    picture = as_picture(pixels)
    picture.thumbnail((side, side), Resampling.BICUBIC)
    out = BytesIO()
    picture.save(out, kind.upper(), quality=quality)
    return out.getvalue()
