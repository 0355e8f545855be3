"""From a file or its bytes to an upright RGB picture, or to words that say why not."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO
from os import PathLike, fspath
from typing import BinaryIO

import numpy as np
from PIL import Image
from PIL.Image import Transpose

from likewise.errors import ImageError, InvalidParameterError
from likewise.images.collection import Pixels
from likewise.images.colours import to_rgb
from likewise.images.formats import FORMATS_READ, HEAD, OPENERS, describe, format_of

MAX_PIXELS = 178_956_970  # half a gigabyte of RGB; Pillow's own limit
_TOO_LARGE = f"at most {MAX_PIXELS / 1e6:.0f} million pixels are read; save a smaller copy."

_ORIENTATION = 274  # EXIF tag
_UPRIGHT = {
    2: Transpose.FLIP_LEFT_RIGHT,
    3: Transpose.ROTATE_180,
    4: Transpose.FLIP_TOP_BOTTOM,
    5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_270,
    7: Transpose.TRANSVERSE,
    8: Transpose.ROTATE_90,
}


def decode(source: str | PathLike[str] | bytes, *, at_least: int | None = None) -> Pixels:
    """Return a picture upright, as RGB of its own size.

    Parameters
    ----------
    source : path or bytes
        A picture file, or what is in it. Its content decides the format, not
        its name; of an animation the first frame is read.
    at_least : int, optional
        Let a JPEG come smaller, when both its sides stay at least this long;
        a photo is then read several times faster.

    Returns
    -------
    pixels : array of shape (h, w, 3), uint8

    Raises
    ------
    ImageError
        If it is missing, empty, truncated, too large, or no picture.
    """
    if isinstance(source, bytes):
        with naming(f"The picture of {len(source)} bytes"):
            return read(BytesIO(source), at_least=at_least)
    with naming(repr(fspath(source))), open_file(source) as stream:
        return read(stream, at_least=at_least)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put `name` before the reason of an `ImageError` raised inside."""
    try:
        yield
    except ImageError as error:
        raise ImageError(f"{name} {error}") from error


def open_file(path: str | PathLike[str]) -> BufferedReader:
    """Open a file for reading, or raise an `ImageError` that begins with the reason."""
    try:
        return open(path, "rb")
    except FileNotFoundError as error:
        raise ImageError("does not exist; check its name, or read the folder again.") from error
    except IsADirectoryError as error:
        raise ImageError("is a folder, not a picture; give the pictures in it.") from error
    except OSError as error:
        raise ImageError(f"cannot be opened ({error.strerror}); check its permissions.") from error


def read(stream: BinaryIO, *, at_least: int | None = None) -> Pixels:
    """Do the work of `decode` on an open file; the error begins with the reason."""
    if at_least is not None and at_least < 1:
        raise InvalidParameterError(f"at_least={at_least} is no length; choose at least 1.")
    opener = OPENERS[_known_format(stream)]
    try:
        picture = opener(stream)
        _check_size(*picture.size)
        if at_least is not None:
            picture.draft(picture.mode, (at_least, at_least))
        picture.load()
        turn = _UPRIGHT.get(_orientation(picture))
        rgb = to_rgb(picture)
        return np.array(rgb if turn is None else rgb.transpose(turn))
    except ImageError:
        raise
    except Image.DecompressionBombError as error:  # some classes look before they tell the size
        raise ImageError(f"is too large: {_TOO_LARGE}") from error
    except Exception as error:  # a broken file makes Pillow raise anything at all
        raise ImageError(
            f"is broken or truncated ({error}); copy it again from where it came from, "
            "or save it again from a program that opens it."
        ) from error


def _known_format(stream: BinaryIO) -> str:
    head = stream.read(HEAD)
    stream.seek(0)
    if not head:
        raise ImageError("is empty (0 bytes); copy it again from where it came from.")
    kind = format_of(head)
    if kind is None:
        raise ImageError(
            f"is no picture that can be read: it holds {describe(head)}; "
            f"the formats read are {FORMATS_READ}."
        )
    return kind


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise ImageError(
            f"is too large: {width} x {height} is {width * height / 1e6:,.0f} million pixels; "
            f"{_TOO_LARGE}"
        )


def _orientation(picture: Image.Image) -> int:
    """Return the EXIF orientation; 1 (upright) where the EXIF data are broken."""
    try:
        return int(picture.getexif().get(_ORIENTATION, 1))
    except Exception:  # whatever is wrong with its notes, the picture itself is there
        return 1
