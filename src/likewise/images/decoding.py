"""Decode an image file to upright 8-bit RGB; the format is recognised by content, not by name."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import SEEK_END, BufferedReader, BytesIO
from os import PathLike, fspath
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from pi_heif.as_plugin import HeifImageFile
from PIL import Image, _imaging
from PIL.AvifImagePlugin import AvifImageFile
from PIL.BmpImagePlugin import BmpImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.Image import Transpose
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

from likewise.errors import ImageError, InvalidParameterError
from likewise.images.collection import Pixels
from likewise.images.raw_photos import RAW_EXTENSIONS, open_preview

_SMALL = 64  # an image of this fraction of the budget never waits


class PixelBudget:
    """Lets images be decoded at the same time while their pixels fit into a limit.

    An image that is larger than the limit is decoded alone, apart from small ones: an image of up
    to 1/64 of the limit never waits, so that pages show it while a very large one is decoded.
    Threads get their turn in the order in which they ask, so that large images do not wait for
    ever.

    Parameters
    ----------
    n_pixels : int
        The limit.
    """

    def __init__(self, n_pixels: int) -> None:
        self._limit = n_pixels
        self._used = 0
        self._turn = threading.Lock()  # held by the one thread that waits for free pixels
        self._released = threading.Condition()
        self._kept = threading.local()

    @contextmanager
    def reserve(self, n_pixels: int) -> Iterator[None]:
        """Wait for `n_pixels`, and hold them until the end of the block, or of `keep` around it."""
        held: list[int] | None = getattr(self._kept, "pixels", None)
        if n_pixels <= self._limit // _SMALL:
            yield
            return
        with self._turn, self._released:
            if not held:  # a thread that holds some must not wait for itself
                self._released.wait_for(
                    lambda: not self._used or self._used + n_pixels <= self._limit
                )
            self._used += n_pixels
        if held is not None:
            held.append(n_pixels)
            yield
            return
        try:
            yield
        finally:
            self._release(n_pixels)

    @contextmanager
    def keep(self) -> Iterator[None]:
        """Hold what is reserved inside until the end, for as long as the pixels are in use."""
        self._kept.pixels = []
        try:
            yield
        finally:
            held, self._kept.pixels = self._kept.pixels, None
            self._release(sum(held))

    def _release(self, n_pixels: int) -> None:
        with self._released:
            self._used -= n_pixels
            self._released.notify_all()


#: Shared by everything that decodes images; decoding takes at most 8 bytes for each pixel.
DECODING = PixelBudget(2**27)


SUPPORTED_FORMATS = "JPEG, PNG, WebP, BMP, TIFF, GIF, HEIC, AVIF and raw photos with a preview"
HEAD = 32  # number of bytes that determine the format
MAX_PIXELS = 178_956_970  # half a gigabyte of RGB; Pillow's own limit
_TOO_LARGE = f"at most {MAX_PIXELS / 1e6:.0f} million pixels are read; save a smaller copy."

# Pillow allocates large images in blocks. The C library returns blocks of more than 32 MB to the
# system at once, but keeps smaller ones for the thread: eight threads then keep eight images.
_imaging.set_block_size(2**26)

# Pillow's classes are used directly: `Image.open` would check the size against a limit global
# to the process, and pass an MPO (two JPEGs in one file) to a class that reads both.
OPENERS: dict[str, Callable[[BinaryIO], Image.Image]] = {
    "JPEG": JpegImageFile,
    "PNG": PngImageFile,
    "GIF": GifImageFile,
    "WebP": WebPImageFile,
    "TIFF": TiffImageFile,
    "BMP": BmpImageFile,
    "HEIF": HeifImageFile,
    "AVIF": AvifImageFile,
    "raw": open_preview,
}

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
    *((4, b"ftyp" + brand, "HEIF") for brand in (b"heic", b"heix", b"hevc", b"heim", b"heis")),
    *((4, b"ftyp" + brand, "HEIF") for brand in (b"mif1", b"msf1")),
    *((4, b"ftyp" + brand, "AVIF") for brand in (b"avif", b"avis")),
    # Text may start with "BM" too; the size of the second header must follow.
    *((14, bytes([size, 0, 0, 0]), "BMP") for size in (12, 40, 52, 56, 64, 108, 124)),
]
_PREFIXES = {"WebP": b"RIFF", "BMP": b"BM"}  # required in addition to the signature

_OTHER_SIGNATURES = [
    (4, b"ftyp", "a video"),
    (0, b"8BPS", "a Photoshop file"),
    (0, b"%PDF", "a PDF"),
    (0, b"PK\x03\x04", "a ZIP archive"),
    (0, b"<svg", "an SVG drawing"),
    (0, b"<?xml", "XML or SVG"),
    (0, b"<!DOCTYPE", "a web page"),
    (0, b"<html", "a web page"),
]

_PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by color type
_MAX_DEFLATE = 1032  # largest ratio of compression
_LARGE, _STRIP = 2**24, 2**22  # pixels
_MODES_IN_STRIPS = frozenset({"1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr"})
_ORIENTATION = 274  # EXIF tag
_TRANSPOSE_OF = {
    2: Transpose.FLIP_LEFT_RIGHT,
    3: Transpose.ROTATE_180,
    4: Transpose.FLIP_TOP_BOTTOM,
    5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_270,
    7: Transpose.TRANSVERSE,
    8: Transpose.ROTATE_90,
}


def decode(source: str | PathLike[str] | bytes, *, at_least: int | None = None) -> Pixels:
    """Return an image upright, as RGB in its original size.

    Parameters
    ----------
    source : path or bytes
        An image file, or its content. Of an animation the first frame is read.
    at_least : int, optional
        Allow a JPEG to be decoded at a smaller scale as long as both sides have at least this
        length; this is several times faster for a photo.

    Returns
    -------
    pixels : array of shape (h, w, 3), uint8

    Raises
    ------
    ImageError
        If it is missing, empty, truncated, too large, or not an image.
    """
    if isinstance(source, bytes):
        with naming(f"The image of {len(source)} bytes"):
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
    """Open a file for reading, or raise an `ImageError` that starts with the reason."""
    try:
        return open(path, "rb")
    except FileNotFoundError as error:
        raise ImageError("does not exist; check its name, or read the folder again.") from error
    except IsADirectoryError as error:
        raise ImageError("is a folder, not an image; give the images in it.") from error
    except OSError as error:
        raise ImageError(f"cannot be opened ({error.strerror}); check its permissions.") from error


def read(stream: BinaryIO, *, at_least: int | None = None) -> Pixels:
    """Decode an open file as `decode` does; the error message starts with the reason."""
    if at_least is not None and at_least < 1:
        raise InvalidParameterError(f"at_least must be an integer >= 1, got {at_least}.")
    opener = OPENERS[_check_format(stream)]
    try:
        image = opener(stream)
        _check_size(*image.size)
        _check_png_data(stream, image)
        if at_least is not None:
            image.draft(image.mode, (at_least, at_least))
        with DECODING.reserve(image.width * image.height):
            image.load()
            return _upright_rgb(image)
    except ImageError:
        raise
    except Image.DecompressionBombError as error:  # raised before the size is known
        raise ImageError(f"is too large: {_TOO_LARGE}") from error
    except Exception as error:  # Pillow raises any exception for a broken file
        raise ImageError(
            f"is broken or truncated ({error}); copy it again from its source, "
            "or save it again from a program that opens it."
        ) from error


def size_of(stream: BinaryIO) -> tuple[int, int]:
    """Return width and height of the upright image in an open file; only its header is read.

    Raises
    ------
    ImageError
        If it is not an image; the message starts with the reason.
    """
    opener = OPENERS[_check_format(stream)]
    try:
        image = opener(stream)
    except Exception as error:  # Pillow raises any exception for a broken file
        raise ImageError(f"is broken or truncated ({error}); copy it again.") from error
    turned = _orientation(image) >= 5  # by 90 degrees
    return (image.height, image.width) if turned else (image.width, image.height)


def format_of(head: bytes) -> str | None:
    """Return the format of a file that starts with `head`, or None if it is not supported.

    Examples
    --------
    >>> format_of(b"GIF89a...")
    'GIF'
    >>> format_of(b"Dear diary")
    """
    for offset, signature, name in _SIGNATURES:
        if head.startswith(signature, offset) and head.startswith(_PREFIXES.get(name, b"")):
            return name
    return None


def describe(head: bytes) -> str:
    """Return a description of an unsupported file that starts with `head`."""
    for offset, signature, description in _OTHER_SIGNATURES:
        if head.startswith(signature, offset):
            return description
    is_text = all(byte in b"\t\r\n" or 32 <= byte < 127 for byte in head)
    return "text" if is_text else "unknown data"


def _check_format(stream: BinaryIO) -> str:
    head = stream.read(HEAD)
    stream.seek(0)
    if not head:
        raise ImageError("is empty (0 bytes); copy it again from its source.")
    name = format_of(head)
    if os.path.splitext(str(getattr(stream, "name", "")))[1].lower() in RAW_EXTENSIONS:
        return "raw"
    if name is None:
        raise ImageError(
            f"is not a supported image: it contains {describe(head)}; "
            f"supported formats are {SUPPORTED_FORMATS}."
        )
    return name


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise ImageError(
            f"is too large: {width} x {height} is {width * height / 1e6:,.0f} million pixels; "
            f"{_TOO_LARGE}"
        )


def _upright_rgb(image: Image.Image) -> Pixels:
    """Return a loaded image as an array; a large one in strips, without further copies."""
    transpose = _TRANSPOSE_OF.get(_orientation(image))
    is_small = image.width * image.height <= _LARGE
    if is_small or transpose is not None or image.mode not in _MODES_IN_STRIPS:
        rgb = to_rgb(image)
        return np.array(rgb if transpose is None else rgb.transpose(transpose))
    pixels = np.empty((image.height, image.width, 3), dtype=np.uint8)
    height = max(1, _STRIP // image.width)
    for top in range(0, image.height, height):
        strip = image.crop((0, top, image.width, min(top + height, image.height)))
        pixels[top : top + height] = np.asarray(to_rgb(strip))
    return pixels


def _check_png_data(stream: BinaryIO, image: Image.Image) -> None:
    """Raise if the compressed data of a PNG are too short for the size in its header.

    Deflate makes data at most 1,032 times shorter. Without this check, a file of a few bytes
    reserves half a gigabyte before its data end.
    """
    if not isinstance(image, PngImageFile):
        return
    start = stream.tell()
    stream.seek(24)  # bit depth and color type follow width and height in the first chunk
    depth, color_type = stream.read(2)
    n_bits = image.width * depth * _PNG_CHANNELS.get(color_type, 1)
    needed = image.height * (1 + (n_bits + 7) // 8)
    n_compressed, position = 0, len(b"\x89PNG\r\n\x1a\n")
    while len(head := _at(stream, position, 8)) == 8:
        length = int.from_bytes(head[:4], "big")
        n_compressed += length if head[4:] == b"IDAT" else 0
        position += 12 + length
    n_file = stream.seek(0, SEEK_END)
    stream.seek(start)
    if min(n_compressed, n_file) * _MAX_DEFLATE < needed:
        raise ImageError(
            f"is broken or truncated (its header says {image.width} x {image.height} pixels, "
            "which its data are too short for); copy it again from its source."
        )


def _at(stream: BinaryIO, position: int, n_bytes: int) -> bytes:
    stream.seek(position)
    return stream.read(n_bytes)


def _orientation(image: Image.Image) -> int:
    """Return the EXIF orientation; 1 (upright) if the EXIF data are broken."""
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # broken metadata must not prevent reading the image
        return 1


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
