import hashlib
from typing import Any

import numpy as np
import pytest

from likewise.errors import CollectionError
from likewise.images.collection import ImageCollection
from likewise.images.in_memory import ArrayCollection
from tests.images.pictures import make_pixels

COLOUR = np.stack([make_pixels(0), make_pixels(1), make_pixels(0)])  # (3, 24, 32, 3)


def test_returns_the_images_of_an_array() -> None:
    collection = ArrayCollection(COLOUR)
    assert isinstance(collection, ImageCollection)
    assert len(collection) == 3
    np.testing.assert_array_equal(collection.pixels(1), COLOUR[1])
    assert [collection.name(i) for i in range(3)] == ["0", "1", "2"]
    assert repr(collection) == "ArrayCollection(3 images)"


@pytest.mark.parametrize("gray", [COLOUR[..., 0], COLOUR[..., :1]])
def test_gray_images_become_rgb(gray: Any) -> None:
    expected = COLOUR[1, :, :, :1].repeat(3, axis=2)
    np.testing.assert_array_equal(ArrayCollection(gray).pixels(1), expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_from_0_to_1_become_bytes(dtype: type) -> None:
    collection = ArrayCollection((COLOUR / 255).astype(dtype))
    np.testing.assert_array_equal(collection.pixels(1), COLOUR[1])


def test_floats_are_rounded_and_not_cut_off() -> None:
    values = np.array([[[0.0, 0.003, 0.998, 1.0]]])  # 0, 0.77, 254.49, 255
    assert ArrayCollection(values).pixels(0)[0, :, 0].tolist() == [0, 1, 254, 255]


def test_lists_and_lists_of_arrays_are_arrays_too() -> None:
    for pictures in (COLOUR.tolist(), list(COLOUR)):
        array = np.array(pictures, dtype=np.uint8)
        np.testing.assert_array_equal(ArrayCollection(array).pixels(2), COLOUR[2])
    boxes = np.empty(3, dtype=object)
    boxes[:] = list(COLOUR)
    np.testing.assert_array_equal(ArrayCollection(boxes).pixels(2), COLOUR[2])


def test_an_identity_is_that_of_what_is_seen() -> None:
    """Not of how it is kept: as bytes or as floats, as gray or as three equal colours."""
    gray = COLOUR[..., 0]
    same = [gray, gray[..., None], gray / 255, gray[..., None].repeat(3, axis=3)]
    identities = {ArrayCollection(array).identity(0) for array in same}
    pixels = gray[0, :, :, None].repeat(3, axis=2)
    assert identities == {hashlib.sha256(b"(24, 32, 3)" + pixels.tobytes()).hexdigest()}


def test_the_shape_is_part_of_the_identity() -> None:
    zeros = np.zeros((1, 6, 4, 3), np.uint8)
    turned = zeros.reshape(1, 4, 6, 3)
    assert ArrayCollection(zeros).identity(0) != ArrayCollection(turned).identity(0)


def test_duplicates_are_known_and_nothing_is_skipped() -> None:
    collection = ArrayCollection(COLOUR)
    assert collection.duplicates == [[0, 2]]
    assert collection.skipped == []


def test_pixels_are_a_copy() -> None:
    collection = ArrayCollection(COLOUR.copy())
    collection.pixels(0)[:] = 0
    np.testing.assert_array_equal(collection.pixels(0), COLOUR[0])


def with_value(value: float) -> Any:
    array = np.zeros((4, 2, 2, 3))
    array[2, 0, 1, 0] = value
    return array


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((5, 7)), r"Images must be uint8, .* got vectors of shape \(5, 7\)"),
        (np.zeros((9, 9, 3)), r"single image of shape \(9, 9, 3\); give array\[None\]"),
        (np.zeros((5, 3, 9, 9)), r"got channels first, .*; give array.transpose\(0, 2, 3, 1\)"),
        (np.zeros((5, 1, 9, 9)), "got channels first"),
        (np.zeros((5, 9, 9, 4)), r"Images must be uint8, .* got shape \(5, 9, 9, 4\)"),
        (np.zeros(5), r"got shape \(5,\)"),
        (np.zeros((0, 9, 9, 3)), r"shape \(0, 9, 9, 3\) is empty; give at least one"),
        (np.zeros((4, 0, 9)), r"shape \(4, 0, 9\) is empty"),
        (np.zeros((4, 9, 9), dtype=np.int64), "Images must be uint8, .* got dtype int64"),
        (np.zeros((4, 9, 9), dtype=bool), "got dtype bool"),
        (np.full((4, 9, 9), "x"), "got dtype <U1"),
        (with_value(np.nan), "1 images contain NaN or infinite values, the first is image 2"),
        (with_value(np.inf), "NaN or infinite values, the first is image 2"),
        (with_value(-np.inf), "NaN or infinite values, the first is image 2"),
        (with_value(200.0), "values from 0 to 1, got 0 to 200; scale them"),
        (with_value(-0.5), "got -0.5 to 0;"),
        (
            [COLOUR[0], COLOUR[1], COLOUR[2][:9]],
            r"image 2 is of shape \(9, 32, 3\) and image 0 is of shape \(24, 32, 3\); resize",
        ),
        ([[[0, 1], [2]], [[0, 1], [2, 3]]], "image 1 is of shape .* and image 0 is ragged"),
    ],
)
def test_an_array_without_images_raises_a_clear_error(array: Any, message: str) -> None:
    with pytest.raises(CollectionError, match=message):
        ArrayCollection(array)
