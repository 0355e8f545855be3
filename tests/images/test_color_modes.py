"""Every way to store colours, brought to RGB."""

import struct
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

from likewise.errors import ImageError
from likewise.images.decoding import decode
from tests.images.pictures import as_file, closeness, make_pixels, make_png, tiff_of_12_bits

PIXELS = make_pixels()
PICTURE = Image.fromarray(PIXELS)
GRADIENT = np.linspace(0, 65535, 24 * 32).reshape(24, 32)


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_16_bits_are_scaled_and_not_clipped(kind: str) -> None:
    deep = GRADIENT.astype(np.uint16)
    pixels = decode(as_file(Image.fromarray(deep), kind))
    expected = np.rint(deep / 257)[:, :, None].repeat(3, axis=2)
    np.testing.assert_array_equal(pixels, expected)


def test_16_bit_colours_are_scaled_and_not_clipped() -> None:
    """Pillow cannot write these, so the PNG is made by hand."""
    deep = (PIXELS.astype(">u2") * 257).tobytes()
    rows = b"".join(b"\0" + deep[i : i + 32 * 6] for i in range(0, len(deep), 32 * 6))
    header = struct.pack(">IIBBBBB", 32, 24, 16, 2, 0, 0, 0)
    np.testing.assert_array_equal(decode(make_png(header, zlib.compress(rows))), PIXELS)


def test_a_tiff_that_uses_12_of_16_bits_is_not_dark() -> None:
    twelve = np.array([[0, 4095], [2048, 1365]], dtype=np.uint16)
    file = tiff_of_12_bits(twelve)
    expected = np.rint(twelve / 4095 * 255)[:, :, None].repeat(3, axis=2)
    np.testing.assert_array_equal(decode(file), expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([[0.0, 0.2], [0.6, 1.0]], dtype=np.float32), [0, 51, 153, 255]),
        (np.array([[0.2, 0.4], [0.6, 0.4]], dtype=np.float32), [51, 102, 153, 102]),
        (np.array([[-3.0, 0.0], [3.0, 7.0]], dtype=np.float32), [0, 76, 153, 255]),
        (np.array([[5.0, 5.0], [5.0, 5.0]], dtype=np.float32), [0, 0, 0, 0]),
        (np.array([[0, 257], [514, 65535]], dtype=np.int32), [0, 1, 2, 255]),
        (np.array([[0, 100_000], [50_000, 20_000]], dtype=np.int32), [0, 255, 128, 51]),
    ],
)
def test_floats_and_32_bits_find_their_white(values: Any, expected: list[int]) -> None:
    pixels = decode(as_file(Image.fromarray(values), "TIFF"))
    assert pixels[:, :, 0].ravel().tolist() == expected


def test_an_image_of_nan_raises_an_error() -> None:
    values = np.array([[0.5, np.nan]], dtype=np.float32)
    with pytest.raises(ImageError, match="contains NaN or infinite values"):
        decode(as_file(Image.fromarray(values), "TIFF"))


def test_cmyk_becomes_rgb() -> None:
    for kind in ("JPEG", "TIFF"):
        assert closeness(decode(as_file(PICTURE.convert("CMYK"), kind)), PIXELS) < 8


def test_gray_and_black_and_white_become_rgb() -> None:
    gray = PICTURE.convert("L")
    expected = np.asarray(gray)[:, :, None].repeat(3, axis=2)
    np.testing.assert_array_equal(decode(as_file(gray, "PNG")), expected)
    line = decode(as_file(gray.convert("1"), "PNG"))
    assert set(np.unique(line)) == {0, 255}


def test_a_palette_becomes_rgb() -> None:
    few = PICTURE.quantize(16)
    np.testing.assert_array_equal(decode(as_file(few, "PNG")), np.asarray(few.convert("RGB")))


HALF = np.dstack([np.zeros((2, 4, 3), np.uint8), np.full((2, 4), [0, 51, 204, 255], np.uint8)])


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_what_is_transparent_becomes_white(mode: str) -> None:
    """Black at opacity 0, .2, .8, 1 on white."""
    pixels = decode(as_file(Image.fromarray(HALF).convert(mode), "PNG"))
    assert pixels.tolist() == [[[v] * 3 for v in (255, 204, 51, 0)]] * 2


@pytest.mark.parametrize("kind", ["PNG", "GIF"])
@pytest.mark.parametrize("mode", ["P", "L"])
def test_one_transparent_colour_becomes_white(kind: str, mode: str) -> None:
    picture = Image.new(mode, (2, 1), 0)
    if mode == "P":
        picture.putpalette([0, 0, 0, 200, 10, 10])
        picture.putpixel((1, 0), 1)
    pixels = decode(as_file(picture, kind, transparency=0))
    assert pixels[0, 0].tolist() == [255, 255, 255]
    assert pixels[0, 1].tolist() == ([200, 10, 10] if mode == "P" else [255, 255, 255])


def test_half_transparent_colours_of_a_palette_are_blended_with_white() -> None:
    picture = Image.new("P", (2, 1), 0)
    picture.putpalette([0, 0, 0, 0, 0, 0])
    picture.putpixel((1, 0), 1)
    pixels = decode(as_file(picture, "PNG", transparency=bytes([255, 51])))
    assert pixels[0].tolist() == [[0, 0, 0], [204, 204, 204]]
