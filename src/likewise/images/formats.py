"""Which kind of picture a file is, by its first bytes; the name of a file may be wrong."""

from collections.abc import Callable
from typing import BinaryIO

from PIL import Image
from PIL.BmpImagePlugin import BmpImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

FORMATS_READ = "JPEG, PNG, WebP, BMP, TIFF and GIF"
HEAD = 32  # bytes that settle the kind

# Pillow's classes are called directly: `Image.open` would judge the size by a limit that is
# global to the process, and hand an MPO (two JPEGs in one file) to a class that reads both.
OPENERS: dict[str, Callable[[BinaryIO], Image.Image]] = {
    "JPEG": JpegImageFile,
    "PNG": PngImageFile,
    "GIF": GifImageFile,
    "WebP": WebPImageFile,
    "TIFF": TiffImageFile,
    "BMP": BmpImageFile,
}

EXTENSIONS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif"})
# Pictures to a person, not to us: a person must hear that they were left out.
FOREIGN_EXTENSIONS = frozenset({".heic", ".heif", ".avif", ".jxl", ".jp2", ".svg", ".psd"})
# By content most of these are TIFFs, whose first picture is a thumbnail of the photo.
RAW_EXTENSIONS = frozenset(
    {".dng", ".cr2", ".cr3", ".nef", ".nrw", ".arw", ".orf", ".rw2", ".raf", ".pef", ".srw"}
)

_SIGNATURES = [
    (0, b"\xff\xd8\xff", "JPEG"),
    (0, b"\x89PNG\r\n\x1a\n", "PNG"),
    (0, b"GIF87a", "GIF"),
    (0, b"GIF89a", "GIF"),
    (8, b"WEBP", "WebP"),
    (0, b"II*\0", "TIFF"),
    (0, b"MM\0*", "TIFF"),
    (0, b"II+\0", "TIFF"),
    (0, b"MM\0+", "TIFF"),
    # "BM" alone begins many a text; the size of the second header must follow.
    *((14, bytes([size, 0, 0, 0]), "BMP") for size in (12, 40, 52, 56, 64, 108, 124)),
]
_NEEDED = {"WebP": b"RIFF", "BMP": b"BM"}

_LOOKALIKES = [
    (4, b"ftyphei", "a HEIC photo"),
    (4, b"ftypmif1", "a HEIF photo"),
    (4, b"ftypavif", "an AVIF picture"),
    (4, b"ftyp", "a film"),
    (0, b"8BPS", "a Photoshop file"),
    (0, b"%PDF", "a PDF"),
    (0, b"PK\x03\x04", "a ZIP archive"),
    (0, b"<svg", "an SVG drawing"),
    (0, b"<?xml", "XML or SVG"),
    (0, b"<!DOCTYPE", "a web page"),
    (0, b"<html", "a web page"),
]


def format_of(head: bytes) -> str | None:
    """Return the format that begins with `head`, or None if we do not read it.

    Examples
    --------
    >>> format_of(b"GIF89a...")
    'GIF'
    >>> format_of(b"Dear diary")
    """
    for offset, mark, kind in _SIGNATURES:
        if head.startswith(mark, offset) and head.startswith(_NEEDED.get(kind, b"")):
            return kind
    return None


def describe(head: bytes) -> str:
    """Return in words what begins with `head`, which is no picture we read."""
    for offset, mark, words in _LOOKALIKES:
        if head.startswith(mark, offset):
            return words
    is_text = all(byte in b"\t\r\n" or 32 <= byte < 127 for byte in head)
    return "text" if is_text else "something unknown"
