"""A pickle may hold arrays, and nothing that runs."""

import os
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.errors import DatasetError
from likewise_bench.datasets.archives import read_pickle


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_numbers_texts_and_arrays_are_read(protocol: int) -> None:
    batch = {"labels": [1, 2], b"name": b"x", "data": np.arange(6, dtype=np.uint8).reshape(2, 3)}
    found = read_pickle(pickle.dumps(batch, protocol=protocol), "batch")
    assert (found["labels"], found["name"]) == ([1, 2], b"x")
    np.testing.assert_array_equal(found["data"], batch["data"])


class Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def test_a_pickle_that_calls_a_function_is_rejected_without_the_call(tmp_path: Path) -> None:
    content = pickle.dumps({"labels": Touch(tmp_path / "harm")})
    with pytest.raises(
        DatasetError, match=r"'batch' cannot be read as arrays \(posix.* is not allowed"
    ):
        read_pickle(content, "batch")
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("what", [eval, Counter("ab"), np.random.default_rng])
def test_globals_other_than_arrays_are_rejected(what: object) -> None:
    with pytest.raises(DatasetError, match="is not allowed"):
        read_pickle(pickle.dumps({"data": what}), "batch")


def test_objects_inside_an_array_are_rejected(tmp_path: Path) -> None:
    array = np.array([Touch(tmp_path / "harm")], dtype=object)
    with pytest.raises(DatasetError, match="is not allowed"):
        read_pickle(pickle.dumps({"data": array}), "batch")
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("content", [b"", b"hello", pickle.dumps({"labels": [1] * 99})[:-20]])
def test_a_damaged_pickle_is_named_in_the_error(content: bytes) -> None:
    with pytest.raises(DatasetError, match="'batch' cannot be read as arrays"):
        read_pickle(content, "batch")


def test_a_pickle_of_another_type_is_rejected() -> None:
    with pytest.raises(DatasetError, match="'batch' has no batch of images"):
        read_pickle(pickle.dumps([1, 2]), "batch")
