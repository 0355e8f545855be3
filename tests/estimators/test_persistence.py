"""Model folders are written atomically; damaged ones raise an error."""

import json
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import ModelFileError
from likewise.estimators.persistence import (
    ARRAYS_FILE,
    FORMAT,
    MODEL_FILE,
    read_folder,
    write_folder,
)


def test_arrays_and_description_are_read_as_written(tmp_path: Path) -> None:
    arrays = {"a": np.arange(6).reshape(3, 2).T, "b": np.array(0.5), "c": np.array([True])}
    write_folder(tmp_path / "m", arrays, {"name": "Öl", "n": 3})
    back, facts = read_folder(tmp_path / "m")
    assert facts["name"] == "Öl"
    assert facts["n"] == 3
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        np.testing.assert_array_equal(back[name], array)


def test_a_second_save_replaces_the_first(tmp_path: Path) -> None:
    for value in (1, 2):
        write_folder(tmp_path / "m", {"a": np.array([value])}, {})
    assert read_folder(tmp_path / "m")[0]["a"].item() == 2
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_failed_save_leaves_the_earlier_model_unchanged(tmp_path: Path) -> None:
    write_folder(tmp_path / "m", {"a": np.array([1])}, {})
    with pytest.raises(TypeError):
        write_folder(tmp_path / "m", {"a": np.array([2])}, {"not JSON": object()})
    assert read_folder(tmp_path / "m")[0]["a"].item() == 1
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_folder_that_is_not_a_model_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "holiday.jpg").write_bytes(b"x")
    with pytest.raises(ModelFileError, match="exists and is not a likewise model"):
        write_folder(tmp_path / "m", {}, {})
    assert (tmp_path / "m" / "holiday.jpg").exists()


def test_a_missing_damaged_or_newer_model_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="is not a likewise model"):
        read_folder(tmp_path)
    with pytest.raises(ModelFileError, match=r"nowhere does not exist; check the path"):
        read_folder(tmp_path / "nowhere")
    write_folder(tmp_path / "m", {"a": np.array([1])}, {})
    description = tmp_path / "m" / MODEL_FILE
    description.write_text(json.dumps({"format": 99}))
    with pytest.raises(ModelFileError, match=r"has format 99, this release reads up to"):
        read_folder(tmp_path / "m")
    description.write_text("{")
    with pytest.raises(ModelFileError, match="is damaged"):
        read_folder(tmp_path / "m")
    description.write_text(json.dumps({"format": FORMAT}))
    (tmp_path / "m" / ARRAYS_FILE).write_bytes(b"short")
    with pytest.raises(ModelFileError, match="is damaged"):
        read_folder(tmp_path / "m")
