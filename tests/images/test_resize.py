"""Squares and thumbnails."""

from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from PIL import Image

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.images.decoding import decode
from likewise.images.files import read_folder
from likewise.images.in_memory import ArrayCollection
from likewise.images.resize import resize, square, thumbnail
from likewise.random_streams import stream
from tests.images.conftest import Save
from tests.images.pictures import as_file, make_pixels


@pytest.mark.parametrize("size", [1, 7, 64, 300])
@pytest.mark.parametrize("shape", [(24, 32), (64, 64), (1, 1), (500, 3)])
def test_every_image_becomes_a_square(shape: tuple[int, int], size: int) -> None:
    pixels = np.zeros((*shape, 3), np.uint8)
    pixels[:] = (9, 99, 199)
    squared = resize(pixels, size)
    assert squared.shape == (size, size, 3)
    assert squared.dtype == np.uint8
    assert np.unique(squared.reshape(-1, 3), axis=0).tolist() == [[9, 99, 199]]


def test_fine_stripes_become_gray_and_not_coarse_stripes() -> None:
    """Taking every eighth line would show black or white only."""
    stripes = np.zeros((256, 256, 3), np.uint8)
    stripes[::2] = 255
    assert np.abs(resize(stripes, 32).astype(int) - 127.5).max() < 8


def test_shrinking_is_like_averaging_blocks() -> None:
    pixels = make_pixels(height=240, width=480)
    blocks = pixels.reshape(24, 10, 24, 20, 3).mean(axis=(1, 3))
    assert np.abs(resize(pixels, 24) - blocks).mean() < 2


def test_an_image_of_the_right_size_is_returned_as_a_copy() -> None:
    noise = stream(0, "noise").integers(0, 256, (16, 16, 3), dtype=np.uint8)
    same = resize(noise, 16)
    np.testing.assert_array_equal(same, noise)
    assert not np.shares_memory(same, noise)


@pytest.mark.parametrize(
    "pixels", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4, 3))]
)
def test_pixels_that_are_not_rgb_raises_an_error(pixels: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"must be uint8 of shape \(h, w, 3\), got"):
        resize(pixels, 8)
    with pytest.raises(InvalidParameterError, match="size must be an integer >= 1, got 0"):
        resize(make_pixels(), 0)


def test_a_square_of_a_photo_is_nearly_that_of_all_its_pixels(save: Save, tmp_path: Path) -> None:
    large = Image.fromarray(make_pixels(height=600, width=800))
    (tmp_path / "a.jpg").write_bytes(as_file(large, "JPEG", quality=95))
    collection = read_folder(tmp_path)
    all_pixels = resize(collection.pixels(0), 32)
    fewer = square(collection, 0, 32)
    assert np.abs(fewer.astype(int) - all_pixels).mean() < 1
    assert (fewer != all_pixels).any()  # so it was decoded smaller


def test_a_square_of_an_array_is_that_of_all_its_pixels() -> None:
    collection = ArrayCollection(make_pixels()[None])
    np.testing.assert_array_equal(square(collection, 0, 8), resize(make_pixels(), 8))


@pytest.mark.parametrize("kind", ["jpeg", "webp"])
def test_a_thumbnail_fits_and_keeps_its_proportions(kind: Literal["jpeg", "webp"]) -> None:
    pixels = make_pixels(height=300, width=400)
    file = thumbnail(pixels, 100, kind=kind)
    small = decode(file)
    assert small.shape == (75, 100, 3)
    assert Image.open(BytesIO(file)).format == kind.upper()
    reference = np.asarray(Image.fromarray(pixels).resize((100, 75), Image.Resampling.BOX))
    assert np.abs(small.astype(int) - reference).mean() < 5


def test_a_thumbnail_is_never_larger_than_the_image() -> None:
    assert decode(thumbnail(make_pixels(), 100)).shape == (24, 32, 3)
    assert decode(thumbnail(np.zeros((4, 300, 3), np.uint8))).shape == (3, 256, 3)


def test_a_thumbnail_contains_no_metadata(save: Save) -> None:
    exif = Image.Exif()
    exif[271] = "SECRET CAMERA"
    path = save("a.jpg", exif=exif, comment=b"SECRET PLACE")
    assert b"SECRET" in path.read_bytes()
    for kind in ("jpeg", "webp"):
        file = thumbnail(decode(path), kind=kind)
        assert b"SECRET" not in file
        assert not Image.open(BytesIO(file)).getexif()


def test_quality_costs_bytes() -> None:
    noise = stream(0, "noise").integers(0, 256, (64, 64, 3), dtype=np.uint8)
    assert len(thumbnail(noise, quality=90)) > len(thumbnail(noise, quality=30))


def test_a_thumbnail_does_not_change_the_pixels() -> None:
    pixels = make_pixels(height=300, width=400)
    thumbnail(pixels, 10)
    np.testing.assert_array_equal(pixels, make_pixels(height=300, width=400))


def test_invalid_thumbnail_parameters_raise_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="side must be an integer >= 1, got 0"):
        thumbnail(make_pixels(), 0)
    with pytest.raises(InvalidParameterError, match=r"quality must be between 1 and 100, got 0"):
        thumbnail(make_pixels(), quality=0)
    with pytest.raises(UnknownNameError, match=r"'jpg' is not a known kind.*did you mean 'jpeg'"):
        thumbnail(make_pixels(), kind="jpg")  # type: ignore[arg-type]  # the mistake this is about
