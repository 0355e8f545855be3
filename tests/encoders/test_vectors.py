"""Ready vectors: read as they are, or refused with the place and the reason."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.encoders.vectors import as_vectors, read_vectors
from likewise.errors import EncoderError, InvalidParameterError

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_a_file_stays_on_disk(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    found = read_vectors(tmp_path / "x.npy")
    assert isinstance(found.matrix(), np.memmap)
    np.testing.assert_array_equal(found.matrix(), X)
    assert found.slices == {"vectors": slice(0, 3)}
    np.testing.assert_array_equal(read_vectors(str(tmp_path / "x.npy")).matrix(), X)


def test_each_array_of_an_archive_is_a_facet(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", last=X, colour=X[:, :2].astype(np.float64))
    found = read_vectors(tmp_path / "x.npz")
    assert list(found.facets) == ["last", "colour"]
    assert found.matrix().shape == (4, 5)
    assert found.matrix().dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int64, np.uint8, bool])
def test_numbers_of_every_kind_become_float32(dtype: Any) -> None:
    found = read_vectors(X.astype(dtype)).matrix()
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, X.astype(dtype))
    assert read_vectors(X).matrix() is X


def broken(value: float, row: int, n: int = 20_000) -> Any:
    array = np.zeros((n, 2))
    array[row, 1] = value
    return array


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (broken(np.nan, 17_003), r"NaN or infinite numbers \(first in row 17003\); leave"),
        (broken(np.inf, 3), r"first in row 3"),
        (broken(-np.inf, 0), r"first in row 0"),
        ([[1.0, 2.0], [1.0], [1.0, 2.0, 3.0]], r"ragged: row 0 has 2 numbers and row 1 has 1"),
        (np.zeros(5), r"shape \(5,\), not \(n, d\)"),
        (np.zeros((2, 3, 4)), r"shape \(2, 3, 4\), not \(n, d\)"),
        (np.zeros((4, 0)), r"shape \(4, 0\), not \(n, d\)"),
        ([["a", "b"]], "holds <U1, not numbers"),
        (["a", "b"], "holds <U1, not numbers"),
        (np.array([None, None]), r"holds None in row 0, not a vector of numbers; give an array of"),
        ([[1.0, 2.0], None], r"holds None in row 1, not a vector"),
        ([[1.0, None]], "holds object, not numbers"),
        (np.array([[1.0], [1.0, 2.0]], dtype=object), "row 0 has 1 numbers and row 1 has 2"),
        ([[[1.0, 2.0], [1.0]], [[1.0], [1.0]]], "holds object, not numbers"),
        (None, r"is None, not numbers; give an array \(n, d\), .* the path of a \.npy file with"),
        ({"last": X}, r"is \{'last': array"),
        (np.zeros((2, 2), complex), "holds complex128, not numbers"),
    ],
)
def test_what_is_no_vectors_is_refused_in_words(array: Any, words: str) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        read_vectors(array)


def test_a_value_too_large_for_float32_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"infinite numbers \(first in row 1\)"):
        as_vectors(np.array([[0.0], [1e300]]))


def test_another_length_than_the_known_one_is_refused() -> None:
    assert as_vectors(X, width=3) is X
    with pytest.raises(InvalidParameterError, match=r"new has vectors of 3 numbers, but 1280 are"):
        as_vectors(X, "new", width=1280)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.npy", b"garbage", r"x\.npy cannot be read as vectors"),
        ("x.npy", b"", r"x\.npy cannot be read as vectors"),
        ("x.npz", b"garbage", r"x\.npz cannot be read as vectors"),
        ("x.csv", b"1,2", r"x\.csv is neither \.npy nor \.npz; give a \.npy file with"),
    ],
)
def test_a_file_that_is_no_vectors_is_refused(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(EncoderError, match=words):
        read_vectors(tmp_path / name)


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="No such file"):
        read_vectors(tmp_path / "x.npy")


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    with pytest.raises(EncoderError, match="cannot be read as vectors"):
        read_vectors(tmp_path / "x.npy")
    np.savez(tmp_path / "x.npz", a=np.array([{}], dtype=object))
    with pytest.raises(EncoderError, match="cannot be read as vectors"):
        read_vectors(tmp_path / "x.npz")


def test_facets_with_different_numbers_of_rows_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=X, b=X[:2])
    with pytest.raises(InvalidParameterError, match=r"\[2, 4\] rows"):
        read_vectors(tmp_path / "x.npz")


def test_an_archive_without_arrays_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz")
    with pytest.raises((EncoderError, InvalidParameterError), match=r"no array|\[\] rows"):
        read_vectors(tmp_path / "x.npz")
