"""Feature blocks, side by side and separately; local features."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from likewise.embedding.embeddings import (
    Embeddings,
    LocalFeatures,
    column_slices,
    dequantize,
    grid_widths,
    quantize,
)
from likewise.errors import InvalidParameterError
from likewise.random_streams import stream

A, B = np.arange(6, dtype=np.float32).reshape(3, 2), np.ones((3, 1), np.float32)


def test_slices_are_the_columns_of_each_block() -> None:
    both = Embeddings({"a": A, "b": B})
    assert len(both) == 3
    for block, columns in both.slices.items():
        np.testing.assert_array_equal(both.matrix()[:, columns], both.blocks[block])


def test_from_matrix_does_not_copy() -> None:
    matrix = np.concatenate([A, B], axis=1)
    both = Embeddings.from_matrix(matrix, {"a": 2, "b": 1})
    np.testing.assert_array_equal(both.blocks["a"], A)
    np.testing.assert_array_equal(both.blocks["b"], B)
    assert both.matrix() is matrix
    assert np.shares_memory(both.blocks["b"], matrix)


def test_a_single_block_is_the_matrix_itself() -> None:
    assert Embeddings({"a": A}).matrix() is A


def test_blocks_of_different_lengths_are_rejected() -> None:
    with pytest.raises(
        InvalidParameterError, match=r"same number of rows, one per image; got \[2, 3\] rows\."
    ):
        Embeddings({"a": A, "b": B[:2]})


def test_take_selects_rows_and_local_features() -> None:
    local = LocalFeatures(np.arange(6, dtype=np.uint8).reshape(3, 2), {"p": (1, 2)}, np.arange(3))
    some = Embeddings({"a": A, "b": B}, local_features=local).take(np.array([2, 0]))
    np.testing.assert_array_equal(some.blocks["a"], A[[2, 0]])
    assert list(some.slices) == ["a", "b"]
    assert some.local_features is not None
    np.testing.assert_array_equal(some.local_features.images, [2, 0])
    assert Embeddings({"a": A}).take(np.array([1])).local_features is None


def test_columns_follow_the_order_of_the_blocks() -> None:
    assert column_slices({"x": 2, "y": 3}) == {"x": slice(0, 2), "y": slice(2, 5)}


GRIDS = {"parts": (3, 2), "colours": (2, 4)}


@pytest.fixture
def local() -> LocalFeatures:
    rows = stream(0, "places").integers(0, 256, (5, 14)).astype(np.uint8)
    return LocalFeatures(rows, GRIDS, np.array([4, 0, 2]))


@given(arrays(np.float32, 7, elements=st.floats(-20, 20, width=32)))
def test_quantization_keeps_values_to_one_thirty_second(x: npt.NDArray[np.float32]) -> None:
    back = dequantize(quantize(x))
    np.testing.assert_allclose(back, np.clip(x, -8, 127 / 16), atol=1 / 32 + 1e-6)


def test_read_returns_the_columns_of_a_grid(local: LocalFeatures) -> None:
    for image, row in enumerate((4, 0, 2)):
        values = dequantize(local.rows[row])
        parts = local.read("parts", slice(image, image + 1))[0]
        colors = local.read("colours", np.array([image]))[0]
        for patch in range(3):
            np.testing.assert_array_equal(parts[patch], values[2 * patch : 2 * patch + 2])
        for patch in range(2):
            np.testing.assert_array_equal(colors[patch], values[6 + 4 * patch : 10 + 4 * patch])


def test_a_subset_of_local_features_keeps_the_given_order(local: LocalFeatures) -> None:
    some = local.take(np.array([2, 0]))
    assert len(some) == 2
    everything = local.read("parts", slice(0, 3))
    np.testing.assert_array_equal(some.read("parts", slice(0, 2)), everything[[2, 0]])


def test_an_unknown_grid_raises(local: LocalFeatures) -> None:
    with pytest.raises(KeyError, match="mood"):
        local.read("mood", slice(0, 1))


def test_grid_widths_are_patches_times_depth() -> None:
    assert grid_widths(GRIDS) == {"parts": 6, "colours": 8}
