"""Raw camera files: the preview that the camera stored in them, a JPEG, is decoded."""

import mmap
import re
from io import BytesIO
from typing import BinaryIO

from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile

from likewise.errors import ImageError

# By content most of these are TIFFs, whose first image is a small thumbnail of the photo.
RAW_EXTENSIONS = frozenset(
    {".dng", ".cr2", ".cr3", ".nef", ".nrw", ".arw", ".orf", ".rw2", ".raf", ".pef", ".srw"}
)
_JPEG_START = re.compile(rb"\xff\xd8\xff[\xc0\xc2\xc4\xdb\xe0-\xef\xfe]")
_HEADER = 2**18  # bytes of a JPEG that are enough to read its size
_MAX_PREVIEWS = 50  # places that look like the start of a JPEG
_MIN_SIDE = 160  # pixels; smaller previews are not used
_ORIENTATION = 274  # EXIF tag


def open_preview(stream: BinaryIO) -> Image.Image:
    """Return the largest JPEG inside a raw photo, not decoded; its EXIF orientation is the photo's.

    Raises
    ------
    ImageError
        If there is no preview.
    """
    with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        starts = [found.start() for found in _JPEG_START.finditer(content)][:_MAX_PREVIEWS]
        sizes = {start: _size(content[start : start + _HEADER]) for start in starts}
        best = max(sizes, key=lambda start: sizes[start][0] * sizes[start][1], default=None)
        if best is None or min(sizes[best]) < _MIN_SIDE:
            raise ImageError(
                "is a raw photo without a preview; save it as JPEG or PNG from a raw converter."
            )
        preview = JpegImageFile(BytesIO(content[best:]))
    exif = preview.getexif()
    if _ORIENTATION not in exif:
        exif[_ORIENTATION] = _outer_orientation(stream)
    return preview


def _size(header: bytes) -> tuple[int, int]:
    """Return width and height of the JPEG that starts with `header`; (0, 0) if it is none."""
    try:
        return JpegImageFile(BytesIO(header)).size
    except Exception:  # Pillow raises any exception for other data, and for a lossless JPEG
        return 0, 0


def _outer_orientation(stream: BinaryIO) -> int:
    stream.seek(0)
    tags = Image.Exif()
    try:
        tags.load_from_fp(stream)
        return int(tags.get(_ORIENTATION, 1))
    except Exception:  # not a TIFF, or broken metadata, which must not prevent reading the image
        return 1
