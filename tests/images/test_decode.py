"""From files to upright pictures."""

import numpy as np
import pytest
from PIL import Image

from likewise.errors import InvalidParameterError
from likewise.images.decode import decode
from tests.images.conftest import Save
from tests.images.pictures import KINDS, as_file, closeness, make_pixels

PIXELS = make_pixels()
PICTURE = Image.fromarray(PIXELS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_comes_back_as_rgb(kind: str) -> None:
    assert closeness(decode(as_file(PICTURE, kind)), PIXELS) < 8


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF"])
def test_what_was_stored_exactly_comes_back_exactly(kind: str) -> None:
    np.testing.assert_array_equal(decode(as_file(PICTURE, kind)), PIXELS)


def test_a_path_and_its_bytes_give_the_same_writable_picture(save: Save) -> None:
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


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", STORED)
def test_turned_pictures_come_back_upright(kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[274] = orientation
    stored = Image.fromarray(np.ascontiguousarray(STORED[orientation]))
    assert closeness(decode(as_file(stored, kind, exif=exif)), PIXELS) < 8


TEXT_FOR_A_NUMBER = b"II*\0\x08\0\0\0\x01\0\x12\x01\x02\0\x02\0\0\0a\0\0\0\0\0\0\0"
NO_DIRECTORY = b"II*\0\xff\xff\xff\x7f"


@pytest.mark.filterwarnings("ignore::UserWarning:PIL")
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("exif", [b"nonsense", b"", NO_DIRECTORY, TEXT_FOR_A_NUMBER])
def test_broken_exif_data_do_not_cost_the_picture(kind: str, exif: bytes) -> None:
    file = as_file(PICTURE, kind, exif=b"Exif\0\0" + exif)
    assert closeness(decode(file), PIXELS) < 8


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF", "MPO"])
def test_of_an_animation_the_first_frame_is_read(kind: str) -> None:
    others = [Image.fromarray(make_pixels(seed)) for seed in (1, 2)]
    file = as_file(PICTURE, kind, save_all=True, append_images=others)
    assert closeness(decode(file), PIXELS) < 8


def test_a_jpeg_may_come_smaller_but_not_too_small() -> None:
    large = Image.fromarray(make_pixels(height=300, width=400))
    file = as_file(large, "JPEG", quality=95)
    assert decode(file).shape == (300, 400, 3)
    assert decode(file, at_least=300).shape == (300, 400, 3)
    assert decode(file, at_least=100).shape == (150, 200, 3)
    assert decode(file, at_least=1).shape == (38, 50, 3)
    shrunk = np.asarray(large.resize((200, 150), Image.Resampling.BOX))
    assert closeness(decode(file, at_least=100), shrunk) < 2


def test_no_jpeg_has_sides_of_nothing() -> None:
    with pytest.raises(InvalidParameterError, match="at_least=0 is no length"):
        decode(as_file(PICTURE, "JPEG"), at_least=0)


def test_a_smaller_jpeg_is_upright_too() -> None:
    exif = Image.Exif()
    exif[274] = 6
    file = as_file(Image.fromarray(make_pixels(height=300, width=400)), "JPEG", exif=exif)
    assert decode(file, at_least=1).shape == (50, 38, 3)
