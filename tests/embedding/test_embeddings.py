"""Facets side by side, and apart."""

import numpy as np
import pytest

from likewise.embedding.embeddings import Embeddings, LocalFeatures, column_slices
from likewise.errors import InvalidParameterError

A, B = np.arange(6, dtype=np.float32).reshape(3, 2), np.ones((3, 1), np.float32)


def test_slices_find_each_facet_in_the_matrix() -> None:
    both = Embeddings({"a": A, "b": B})
    assert len(both) == 3
    for facet, columns in both.slices.items():
        np.testing.assert_array_equal(both.matrix()[:, columns], both.facets[facet])


def test_splitting_copies_nothing() -> None:
    matrix = np.concatenate([A, B], axis=1)
    both = Embeddings.split(matrix, {"a": 2, "b": 1})
    np.testing.assert_array_equal(both.facets["a"], A)
    np.testing.assert_array_equal(both.facets["b"], B)
    assert both.matrix() is matrix
    assert np.shares_memory(both.facets["b"], matrix)


def test_one_facet_is_the_matrix_itself() -> None:
    assert Embeddings({"a": A}).matrix() is A


def test_facets_of_different_lengths_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"\[2, 3\] rows; give one row an image"):
        Embeddings({"a": A, "b": B[:2]})


def test_some_images_are_taken_with_their_places() -> None:
    places = LocalFeatures(np.arange(6, dtype=np.uint8).reshape(3, 2), {"p": (1, 2)}, np.arange(3))
    some = Embeddings({"a": A, "b": B}, places=places).take(np.array([2, 0]))
    np.testing.assert_array_equal(some.facets["a"], A[[2, 0]])
    assert list(some.slices) == ["a", "b"]
    assert some.places is not None
    np.testing.assert_array_equal(some.places.images, [2, 0])
    assert Embeddings({"a": A}).take(np.array([1])).places is None


def test_columns_follow_the_order_of_the_facets() -> None:
    assert column_slices({"x": 2, "y": 3}) == {"x": slice(0, 2), "y": slice(2, 5)}
