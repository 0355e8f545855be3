"""A growing .npy file: what NumPy reads, and what remains after a failure."""

import errno
from pathlib import Path

import numpy as np
import pytest

from likewise.embedding.vector_file import AppendOnlyArray


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_numpy_loads_a_growing_file(tmp_path: Path, dtype: str) -> None:
    rows = np.arange(3 * 1200, dtype=dtype).reshape(1200, 3) / 8
    file = AppendOnlyArray(tmp_path / "x.npy", 3, dtype)
    for start, stop in [(0, 7), (7, 8), (8, 1200)]:
        file.write(start, rows[start:stop])
        np.testing.assert_array_equal(np.load(file.path), rows[:stop])
    assert file.n_rows() == 1200
    np.testing.assert_array_equal(file.read(1200), rows)


def test_writing_from_the_middle_drops_later_rows(tmp_path: Path) -> None:
    file = AppendOnlyArray(tmp_path / "x.npy", 2, "float32")
    file.write(0, np.zeros((5, 2), "f4"))
    file.write(1, np.ones((2, 2), "f4"))
    assert file.n_rows() == 3
    np.testing.assert_array_equal(np.load(file.path), [[0, 0], [1, 1], [1, 1]])


def test_a_full_disk_keeps_the_existing_rows_of_the_array(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = AppendOnlyArray(tmp_path / "x.npy", 4, "float32")
    file.write(0, np.ones((3, 4), "f4"))
    size = file.path.stat().st_size

    def no_space(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("likewise.embedding.vector_file.os.fsync", no_space)
    with pytest.raises(OSError, match="No space left"):
        file.write(3, np.zeros((100, 4), "f4"))
    assert file.path.stat().st_size == size
    assert file.n_rows() == 3
    np.testing.assert_array_equal(file.read(3), np.ones((3, 4)))


@pytest.mark.parametrize("content", [None, b"", b"\x93NUMPY", b"\0" * 500, b"something else" * 20])
def test_a_file_without_an_array_has_zero_rows(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.npy"
    if content is not None:
        path.write_bytes(content)
    assert AppendOnlyArray(path, 4, "float32").n_rows() == 0


def test_rows_of_another_type_are_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    AppendOnlyArray(path, 4, "float32").write(0, np.ones((6, 4), "f4"))
    assert AppendOnlyArray(path, 4, "float16").n_rows() == 0
    assert AppendOnlyArray(path, 8, "float32").n_rows() == 0
    assert AppendOnlyArray(path, 4, "float32").n_rows() == 6


def test_a_partial_row_at_the_end_is_not_counted(tmp_path: Path) -> None:
    file = AppendOnlyArray(tmp_path / "x.npy", 4, "float32")
    file.write(0, np.ones((6, 4), "f4"))
    with file.path.open("ab") as out:
        out.write(b"\0" * 15)
    assert file.n_rows() == 6
