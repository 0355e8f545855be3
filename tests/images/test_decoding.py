"""From files to upright images. Files that cannot be read, and the error messages."""

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from likewise.errors import ImageError, InvalidParameterError
from likewise.images.decoding import MAX_PIXELS, decode
from tests.images.conftest import Save
from tests.images.pictures import KINDS, as_file, closeness, make_pixels, make_png

PIXELS = make_pixels()
IMAGE = Image.fromarray(PIXELS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_comes_back_as_rgb(kind: str) -> None:
    assert closeness(decode(as_file(IMAGE, kind)), PIXELS) < 8


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF"])
def test_exactly_stored_values_are_read_back_exactly(kind: str) -> None:
    np.testing.assert_array_equal(decode(as_file(IMAGE, kind)), PIXELS)


def test_a_path_and_its_bytes_give_the_same_writable_image(save: Save) -> None:
    path = save("a.png")
    for source in (path, str(path), path.read_bytes()):
        pixels = decode(source)
        np.testing.assert_array_equal(pixels, PIXELS)
        assert pixels.flags.writeable


def test_the_content_decides_not_the_name(save: Save) -> None:
    path = save("really_a_png.jpg", kind="PNG")
    np.testing.assert_array_equal(decode(path), PIXELS)


# What a camera stores that is held in each of the eight ways of the EXIF tag.
STORED = {
    1: PIXELS,
    2: PIXELS[:, ::-1],
    3: PIXELS[::-1, ::-1],
    4: PIXELS[::-1],
    5: PIXELS.transpose(1, 0, 2),
    6: np.rot90(PIXELS, 1),
    7: np.rot90(PIXELS, 2).transpose(1, 0, 2),
    8: np.rot90(PIXELS, -1),
}


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "CMYK"])
def test_an_image_read_in_strips_is_equal(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = "TIFF" if mode == "CMYK" else "PNG"
    file = as_file(IMAGE.convert(mode), kind)
    whole = decode(file)
    monkeypatch.setattr("likewise.images.decoding._LARGE", 10)
    monkeypatch.setattr("likewise.images.decoding._STRIP", 3 * IMAGE.width)
    np.testing.assert_array_equal(decode(file), whole)


@pytest.mark.parametrize("padding", [0, 10**6])
def test_a_png_whose_data_cannot_fill_its_size_is_not_decoded(
    padding: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[object] = []
    monkeypatch.setattr("PIL.PngImagePlugin.PngImageFile.load", loaded.append)
    short = zlib.compress(bytes(1000))
    with pytest.raises(ImageError, match=r"its header says 13000 x 13000 pixels, which its data"):
        decode(png_with(13_000, 13_000, short, padding))
    assert not loaded


def test_the_most_compressed_png_is_decoded() -> None:
    row = bytes(1 + 3 * 3000)
    file = png_with(3000, 3000, zlib.compress(row * 3000, 9), 0)
    assert decode(file).shape == (3000, 3000, 3)


def png_with(width: int, height: int, data: bytes, padding: int) -> bytes:
    """Return a PNG with the given header and compressed data, and an unused chunk."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"prVt", bytes(padding)), (b"IDAT", data), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*one) for one in chunks)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", STORED)
def test_rotated_images_are_returned_upright(kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[274] = orientation
    stored = Image.fromarray(np.ascontiguousarray(STORED[orientation]))
    assert closeness(decode(as_file(stored, kind, exif=exif)), PIXELS) < 8


TEXT_FOR_A_NUMBER = b"II*\0\x08\0\0\0\x01\0\x12\x01\x02\0\x02\0\0\0a\0\0\0\0\0\0\0"
NO_DIRECTORY = b"II*\0\xff\xff\xff\x7f"


@pytest.mark.filterwarnings("ignore::UserWarning:PIL")
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("exif", [b"nonsense", b"", NO_DIRECTORY, TEXT_FOR_A_NUMBER])
def test_an_image_with_broken_exif_data_is_read(kind: str, exif: bytes) -> None:
    file = as_file(IMAGE, kind, exif=b"Exif\0\0" + exif)
    assert closeness(decode(file), PIXELS) < 8


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF", "MPO"])
def test_of_an_animation_the_first_frame_is_read(kind: str) -> None:
    others = [Image.fromarray(make_pixels(seed)) for seed in (1, 2)]
    file = as_file(IMAGE, kind, save_all=True, append_images=others)
    assert closeness(decode(file), PIXELS) < 8


def test_a_jpeg_may_be_decoded_smaller_but_not_below_the_limit() -> None:
    large = Image.fromarray(make_pixels(height=300, width=400))
    file = as_file(large, "JPEG", quality=95)
    assert decode(file).shape == (300, 400, 3)
    assert decode(file, at_least=300).shape == (300, 400, 3)
    assert decode(file, at_least=100).shape == (150, 200, 3)
    assert decode(file, at_least=1).shape == (38, 50, 3)
    shrunk = np.asarray(large.resize((200, 150), Image.Resampling.BOX))
    assert closeness(decode(file, at_least=100), shrunk) < 2


def test_the_minimum_size_of_a_jpeg_must_be_positive() -> None:
    with pytest.raises(InvalidParameterError, match="at_least must be an integer >= 1, got 0"):
        decode(as_file(IMAGE, "JPEG"), at_least=0)


def test_a_smaller_jpeg_is_upright_too() -> None:
    exif = Image.Exif()
    exif[274] = 6
    file = as_file(Image.fromarray(make_pixels(height=300, width=400)), "JPEG", exif=exif)
    assert decode(file, at_least=1).shape == (50, 38, 3)


@pytest.mark.parametrize("at_least", [None, 1])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_a_truncated_image_raises_an_error(kind: str, share: float, at_least: int | None) -> None:
    file = as_file(Image.fromarray(make_pixels(height=200, width=300)), kind)
    with pytest.raises(ImageError, match=r"is broken or truncated .*copy it again"):
        decode(file[: int(share * len(file))], at_least=at_least)


@pytest.mark.parametrize("kind", KINDS)
def test_an_image_cut_anywhere_never_raises_anything_else(kind: str) -> None:
    file = as_file(IMAGE.resize((9, 7)), kind)
    reasons = set()
    for end in range(len(file)):
        try:
            decode(file[:end])
        except ImageError as error:
            reasons.add(str(error).removeprefix(f"The image of {end} bytes ")[:9])
    assert reasons <= {"is empty ", "is not a ", "is broken"}
    assert "is broken" in reasons


@pytest.mark.filterwarnings("ignore::UserWarning:PIL")
@pytest.mark.parametrize("kind", KINDS)
def test_an_image_with_a_damaged_byte_is_read_or_refused(kind: str) -> None:
    file = as_file(IMAGE.resize((9, 7)), kind)
    for place in range(len(file)):
        damaged = bytearray(file)
        damaged[place] ^= 0xFF
        try:
            pixels = decode(bytes(damaged))
        except ImageError:
            continue
        assert pixels.ndim == 3
        assert pixels.dtype == np.uint8


def test_an_empty_file_raises_an_error(tmp_path: Path) -> None:
    (tmp_path / "nothing.jpg").touch()
    with pytest.raises(ImageError, match=r"nothing.jpg' is empty \(0 bytes\); copy it again"):
        decode(tmp_path / "nothing.jpg")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"Dear diary, today I was in the mountains", "text"),
        (b"<!DOCTYPE html><title>404</title>", "a web page"),
        (b"\0\0\0\x18ftypqt  \0\0\0\0", "a video"),
        (b"%PDF-1.7 ...", "a PDF"),
        (b"\x01\x02\x03\x04\x80", "unknown data"),
        (b"BMs are bitmaps, and this is a letter", "text"),
        (b"RIFF....WAVEfmt ", "text"),
        (b"LIFF....WEBPVP8 ", "text"),
        (b"XM" + bytes(12) + bytes([40, 0, 0, 0]), "unknown data"),
    ],
)
def test_the_error_describes_a_file_that_is_not_an_image(content: bytes, words: str) -> None:
    with pytest.raises(ImageError, match=f"it contains {words}; supported formats are JPEG, PNG"):
        decode(content)


def test_a_decompression_bomb_raises_an_error_before_decoding() -> None:
    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    bomb = make_png(header, zlib.compress(b"\0" * 1000))
    with pytest.raises(
        ImageError, match=r"50000 x 50000 is 2,500 million pixels; at most 179 million"
    ):
        decode(bomb)


@pytest.mark.parametrize("kind", ["JPEG", "GIF", "BMP", "TIFF", "WEBP"])
def test_the_limit_holds_for_every_format(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = as_file(IMAGE, kind)
    monkeypatch.setattr("likewise.images.decoding.MAX_PIXELS", 32 * 24 - 1)
    with pytest.raises(ImageError, match="is too large: 32 x 24"):
        decode(file)
    monkeypatch.setattr("likewise.images.decoding.MAX_PIXELS", 32 * 24)
    assert decode(file).shape == (24, 32, 3)


@pytest.mark.parametrize("kind", ["WEBP", "TIFF"])
def test_a_bomb_that_pillow_finds_first_is_too_large_as_well(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = as_file(IMAGE, kind)
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 100)
    with pytest.raises(ImageError, match="is too large: at most 179 million pixels are read"):
        decode(file)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "TIFF"])  # it warns by itself
def test_a_large_photo_is_not_rejected(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow warns at half of the limit, and warnings are errors here; phones do reach it."""
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 32 * 24 - 1)
    assert decode(as_file(IMAGE, kind)).shape == (24, 32, 3)


def test_pillows_own_limit_is_not_below_ours() -> None:
    assert Image.MAX_IMAGE_PIXELS is not None
    assert MAX_PIXELS <= 2 * Image.MAX_IMAGE_PIXELS


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"gone.jpg' does not exist; check its name"):
        decode(tmp_path / "gone.jpg")
    with pytest.raises(ImageError, match="is a folder, not an image"):
        decode(tmp_path)


def test_a_file_that_may_not_be_read_is_named(save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save("secret.png")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)  # a superuser may read everything
    with pytest.raises(ImageError, match=r"secret.png' cannot be opened \(Permission denied\)"):
        decode(path)


def test_broken_files_leave_no_noise_on_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    file = as_file(Image.fromarray(make_pixels(height=64, width=64)), "TIFF", compression="jpeg")
    for end in range(8, len(file), 97):
        with pytest.raises(ImageError):
            decode(file[:end])
    assert capfd.readouterr().err == ""
