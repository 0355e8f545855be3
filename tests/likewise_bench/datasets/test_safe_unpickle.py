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
def test_numbers_texts_and_arrays_come_back(protocol: int) -> None:
    batch = {"labels": [1, 2], b"name": b"x", "data": np.arange(6, dtype=np.uint8).reshape(2, 3)}
    found = read_pickle(pickle.dumps(batch, protocol=protocol), "batch")
    assert (found["labels"], found["name"]) == ([1, 2], b"x")
    np.testing.assert_array_equal(found["data"], batch["data"])


class Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


def test_a_pickle_that_runs_something_is_refused_and_does_not_run(tmp_path: Path) -> None:
    content = pickle.dumps({"labels": Touch(tmp_path / "harm")})
    with pytest.raises(DatasetError, match=r"'batch' cannot be read as arrays \(it asks for posix"):
        read_pickle(content, "batch")
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("what", [eval, Counter("ab"), np.random.default_rng])
def test_anything_but_plain_data_is_refused(what: object) -> None:
    with pytest.raises(DatasetError, match="it asks for"):
        read_pickle(pickle.dumps({"data": what}), "batch")


def test_objects_cannot_be_smuggled_in_through_an_array(tmp_path: Path) -> None:
    array = np.array([Touch(tmp_path / "harm")], dtype=object)
    with pytest.raises(DatasetError, match="it asks for"):
        read_pickle(pickle.dumps({"data": array}), "batch")
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("content", [b"", b"hello", pickle.dumps({"labels": [1] * 99})[:-20]])
def test_a_broken_pickle_is_named(content: bytes) -> None:
    with pytest.raises(DatasetError, match="'batch' cannot be read as arrays"):
        read_pickle(content, "batch")


def test_a_pickle_of_something_else_is_named() -> None:
    with pytest.raises(DatasetError, match="'batch' holds no batch of pictures"):
        read_pickle(pickle.dumps([1, 2]), "batch")
