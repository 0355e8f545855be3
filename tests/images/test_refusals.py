"""What cannot be read, and what is said about it."""

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from likewise.errors import ImageError
from likewise.images.decode import MAX_PIXELS, decode
from tests.images.conftest import Save
from tests.images.pictures import KINDS, as_file, make_pixels, make_png

PICTURE = Image.fromarray(make_pixels())


@pytest.mark.parametrize("at_least", [None, 1])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_a_truncated_picture_is_refused(kind: str, share: float, at_least: int | None) -> None:
    file = as_file(Image.fromarray(make_pixels(height=200, width=300)), kind)
    with pytest.raises(ImageError, match=r"is broken or truncated .*copy it again"):
        decode(file[: int(share * len(file))], at_least=at_least)


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_cut_anywhere_never_raises_anything_else(kind: str) -> None:
    file = as_file(PICTURE.resize((9, 7)), kind)
    reasons = set()
    for end in range(len(file)):
        try:
            decode(file[:end])
        except ImageError as error:
            reasons.add(str(error).removeprefix(f"The picture of {end} bytes ")[:9])
    assert reasons <= {"is empty ", "is no pic", "is broken"}
    assert "is broken" in reasons


@pytest.mark.filterwarnings("ignore::UserWarning:PIL")
@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_with_a_damaged_byte_is_read_or_refused(kind: str) -> None:
    file = as_file(PICTURE.resize((9, 7)), kind)
    for place in range(len(file)):
        damaged = bytearray(file)
        damaged[place] ^= 0xFF
        try:
            pixels = decode(bytes(damaged))
        except ImageError:
            continue
        assert pixels.ndim == 3
        assert pixels.dtype == np.uint8


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nothing.jpg").touch()
    with pytest.raises(ImageError, match=r"nothing.jpg' is empty \(0 bytes\); copy it again"):
        decode(tmp_path / "nothing.jpg")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"Dear diary, today I was in the mountains", "text"),
        (b"<!DOCTYPE html><title>404</title>", "a web page"),
        (b"\0\0\0\x18ftypheic\0\0\0\0", "a HEIC photo"),
        (b"%PDF-1.7 ...", "a PDF"),
        (b"\x01\x02\x03\x04\x80", "something unknown"),
        (b"BMs are bitmaps, and this is a letter", "text"),
        (b"RIFF....WAVEfmt ", "text"),
        (b"LIFF....WEBPVP8 ", "text"),
        (b"XM" + bytes(12) + bytes([40, 0, 0, 0]), "something unknown"),
    ],
)
def test_what_is_no_picture_is_called_by_its_name(content: bytes, words: str) -> None:
    with pytest.raises(ImageError, match=f"it holds {words}; the formats read are JPEG, PNG"):
        decode(content)


def test_a_decompression_bomb_is_refused_before_it_goes_off() -> None:
    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    bomb = make_png(header, zlib.compress(b"\0" * 1000))
    with pytest.raises(
        ImageError, match=r"50000 x 50000 is 2,500 million pixels; at most 179 million"
    ):
        decode(bomb)


@pytest.mark.parametrize("kind", ["JPEG", "GIF", "BMP", "TIFF", "WEBP"])
def test_the_limit_holds_for_every_format(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = as_file(PICTURE, kind)
    monkeypatch.setattr("likewise.images.decode.MAX_PIXELS", 32 * 24 - 1)
    with pytest.raises(ImageError, match="is too large: 32 x 24"):
        decode(file)
    monkeypatch.setattr("likewise.images.decode.MAX_PIXELS", 32 * 24)
    assert decode(file).shape == (24, 32, 3)


@pytest.mark.parametrize("kind", ["WEBP", "TIFF"])
def test_a_bomb_that_pillow_finds_first_is_too_large_as_well(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = as_file(PICTURE, kind)
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 100)
    with pytest.raises(ImageError, match="is too large: at most 179 million pixels are read"):
        decode(file)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "TIFF"])  # it warns by itself
def test_a_large_photo_is_no_bomb(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow warns at half of the limit, and warnings are errors here; phones do reach it."""
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 32 * 24 - 1)
    assert decode(as_file(PICTURE, kind)).shape == (24, 32, 3)


def test_pillows_own_limit_is_not_below_ours() -> None:
    assert Image.MAX_IMAGE_PIXELS is not None
    assert MAX_PIXELS <= 2 * Image.MAX_IMAGE_PIXELS


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"gone.jpg' does not exist; check its name"):
        decode(tmp_path / "gone.jpg")
    with pytest.raises(ImageError, match="is a folder, not a picture"):
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
