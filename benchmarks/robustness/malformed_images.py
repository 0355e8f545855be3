"""Seeded generator of malformed image files: damaged, truncated, and made to be expensive."""

import random
import struct
import zlib
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
import pillow_heif
from PIL import Image

_SIDE = 48
_FORMATS: dict[str, dict[str, Any]] = {
    "jpg": {"format": "JPEG"},
    "progressive.jpg": {"format": "JPEG", "progressive": True},
    "png": {"format": "PNG"},
    "webp": {"format": "WEBP"},
    "gif": {"format": "GIF"},
    "bmp": {"format": "BMP"},
    "tif": {"format": "TIFF", "compression": "tiff_lzw"},
    "deflate.tif": {"format": "TIFF", "compression": "tiff_adobe_deflate"},
    "avif": {"format": "AVIF"},
    "heic": {"format": "HEIF"},
}
_MODES = {"CMYK": "jpg", "P": "png", "I;16": "png", "LA": "png", "1": "bmp"}
_RAW = ("dng", "nef", "cr2", "arw")
_NASTY = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@cache
def seed_images() -> dict[str, bytes]:
    """Return a valid image of each format and mode, by the ending of its name."""
    pillow_heif.register_heif_opener()
    pixels = np.random.default_rng(0).integers(0, 256, (_SIDE, _SIDE, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    exif = Image.Exif()
    exif[274], exif[306], exif[270] = 6, "2026:11:19 00:00:00", "seed"
    found = {name: _saved(image, exif=exif, **how) for name, how in _FORMATS.items()}
    for mode, name in _MODES.items():
        found[f"{mode.replace(';', '')}.{name}"] = _saved(_in_mode(image, mode), **_FORMATS[name])
    frames = [image, image.rotate(90), image.rotate(180)]
    for name in ("gif", "png", "webp", "tif"):
        how = {**_FORMATS[name], "save_all": True, "append_images": frames}
        found[f"frames.{name}"] = _saved(image, **how)
    found |= {f"{number}.{name}": _raw_photo() for number, name in enumerate(_RAW)}
    return found


def malformed_image(chance: random.Random) -> tuple[str, bytes]:
    """Return the ending of a name and the content of a malformed image."""
    name, content = chance.choice(sorted(seed_images().items()))
    if chance.random() < 0.1:
        return chance.choice(_CRAFTED)(chance)
    damaged = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        chance.choice(_DAMAGES)(damaged, chance)
    return name, bytes(damaged)


def _saved(image: Image.Image, **how: Any) -> bytes:
    file = BytesIO()
    image.save(file, **how)
    return file.getvalue()


def _in_mode(image: Image.Image, mode: str) -> Image.Image:
    if mode != "I;16":
        return image.convert(mode)
    return Image.fromarray(np.asarray(image.convert("L")).astype(np.uint16) * 257)


def _raw_photo() -> bytes:
    """Return a TIFF that contains a JPEG preview, as raw photos do."""
    pixels = np.random.default_rng(1).integers(0, 256, (200, 200, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    return _saved(image.resize((16, 16)), format="TIFF") + _saved(image, format="JPEG")


# -- damages of a valid file --------------------------------------------------------


def _place(content: bytearray, chance: random.Random) -> int:
    """Return a position; half of them are among the first bytes, where headers are."""
    end = len(content) if chance.random() < 0.5 else min(len(content), 128)
    return chance.randrange(max(1, end))


def _truncate(content: bytearray, chance: random.Random) -> None:
    del content[_place(content, chance) :]


def _flip_bits(content: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 3, 30))):
        if content:
            content[_place(content, chance)] ^= 1 << chance.randrange(8)


def _put_number(content: bytearray, chance: random.Random) -> None:
    at, form = _place(content, chance), chance.choice((">I", "<I", ">H", "<H", "B"))
    size = struct.calcsize(form)
    content[at : at + size] = struct.pack(form, chance.choice(_NASTY) % (1 << 8 * size))


def _delete(content: bytearray, chance: random.Random) -> None:
    at = _place(content, chance)
    del content[at : at + chance.choice((1, 4, 100))]


def _insert(content: bytearray, chance: random.Random) -> None:
    at = _place(content, chance)
    content[at:at] = chance.randbytes(chance.choice((1, 4, 1000)))


def _repeat(content: bytearray, chance: random.Random) -> None:
    start, end = sorted((_place(content, chance), _place(content, chance)))
    content[end:end] = content[start:end] * chance.choice((1, 2, 50))


def _mix(content: bytearray, chance: random.Random) -> None:
    other = chance.choice(sorted(seed_images().values()))
    at = _place(content, chance)
    content[at:] = other[min(at, len(other)) :]


_DAMAGES = (_truncate, _flip_bits, _put_number, _delete, _insert, _repeat, _mix)


# -- crafted files --------------------------------------------------------------------


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(width: int, height: int, *chunks: bytes) -> bytes:
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + _chunk(b"IEND", b"")


def _huge_png(chance: random.Random) -> tuple[str, bytes]:
    side = chance.choice((13_000, 40_000, 2**31 - 1))
    return "huge.png", _png(side, side, _chunk(b"IDAT", zlib.compress(bytes(10**5))))


def _text_bomb(chance: random.Random) -> tuple[str, bytes]:
    packed = zlib.compress(bytes(chance.choice((10**6, 2 * 10**8))), 9)
    kind = chance.choice((b"zTXt", b"iCCP"))
    rows = _chunk(b"IDAT", zlib.compress(bytes(8 * 25)))
    return "text.png", _png(8, 8, _chunk(kind, b"a\0\0" + packed), rows)


def _many_chunks(chance: random.Random) -> tuple[str, bytes]:
    chunks = _chunk(chance.choice((b"tEXt", b"teST", b"IDAT")), b"a\0b") * 100_000
    return "chunks.png", _png(8, 8, chunks)


def _tiff_loop(chance: random.Random) -> tuple[str, bytes]:
    entries = [(256, 4, 1, 8), (257, 4, 1, 8), (chance.choice((273, 330, 34665)), 4, 1, 8)]
    body = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *e) for e in entries)
    return "loop.tif", b"II*\0" + struct.pack("<I", 8) + body + struct.pack("<I", 8)


def _exif_loop(chance: random.Random) -> tuple[str, bytes]:
    tiff = _tiff_loop(chance)[1]
    segment = b"Exif\0\0" + tiff
    jpeg = seed_images()["jpg"]
    return "exif.jpg", jpeg[:2] + b"\xff\xe1" + struct.pack(
        ">H", len(segment) + 2
    ) + segment + jpeg[2:]


def _large_gif(chance: random.Random) -> tuple[str, bytes]:
    size = struct.pack("<HH", chance.choice((8, 65535)), 65535)
    frame = b"," + struct.pack("<HHHHB", 0, 0, 65535, 65535, 0) + b"\x08\x02L\x01\0"
    return "large.gif", b"GIF89a" + size + b"\x80\0\0" + bytes(6) + frame * 20 + b";"


def _many_previews(chance: random.Random) -> tuple[str, bytes]:
    preview = _raw_photo()
    start = b"\xff\xd8\xff\xe0" * chance.choice((10, 100_000))
    return "previews.nef", b"II*\0" + start + preview


_CRAFTED = (
    *(_huge_png, _text_bomb, _many_chunks, _tiff_loop, _exif_loop, _large_gif, _many_previews),
)
