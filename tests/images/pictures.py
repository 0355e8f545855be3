"""Make images and image files, also those that Pillow does not write."""

import struct
import zlib
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

from likewise.images.collection import Pixels
from likewise.random_streams import stream

KINDS = ["JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF"]


def make_pixels(seed: int = 0, height: int = 24, width: int = 32) -> Pixels:
    """Return a smooth image whose corners, rows and colors all differ."""
    coarse = stream(seed, "picture").integers(0, 256, (3, 4, 3), dtype=np.uint8)
    return np.array(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))


def as_file(picture: Image.Image, kind: str, **options: Any) -> bytes:
    """Return the bytes of an image file."""
    out = BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def closeness(ours: Any, expected: Any) -> float:
    """Return the mean difference of two images, in steps of 255."""
    assert ours.shape == expected.shape
    assert ours.dtype == np.uint8
    return float(np.abs(ours.astype(int) - expected).mean())


def make_png(header: bytes, data: bytes) -> bytes:
    """Return a PNG of one header and one chunk of data, as the header claims it to be."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def tiff_of_12_bits(values: Any) -> bytes:
    """Return a TIFF with 12 bits a pixel, which Pillow reads and does not write."""
    first, second = values.reshape(-1, 2).T.tolist()
    data = b"".join(
        bytes([a >> 4, (a & 15) << 4 | b >> 8, b & 255]) for a, b in zip(first, second, strict=True)
    )
    height, width = values.shape
    tags = {256: width, 257: height, 258: 12, 259: 1, 262: 1, 273: 8, 277: 1, 278: height}
    tags[279] = len(data)
    start = 8 + len(data)
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    return (
        struct.pack("<2sHI", b"II", 42, start)
        + data
        + struct.pack("<H", len(tags))
        + entries
        + struct.pack("<I", 0)
    )
