"""Vectors on disk: completed rows survive truncation, full disks, kills and other writers."""

import errno
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.embedding.vector_file import AppendOnlyArray, VectorFile
from likewise.errors import EncoderError, InvalidParameterError, LikewiseWarning
from tests.embedding.add_rows import WIDTH, row_of

ADD_ROWS = Path(__file__).with_name("add_rows.py")
WIDTHS = {"last": 3, "stage1": 2}


def rows_of(*numbers: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.array([[n] * 5 for n in numbers], dtype=np.float32)


def test_rows_are_returned_in_the_requested_order(tmp_path: Path) -> None:
    file = VectorFile(tmp_path, "e", WIDTHS)
    file.add(["a", "b"], rows_of(1, 2))
    file.add(["c"], rows_of(3))
    for one in (file, VectorFile(tmp_path, "e", WIDTHS)):
        assert len(one) == 3
        np.testing.assert_array_equal(one.read(["c", "a", "b", "a"]), rows_of(3, 1, 2, 1))
        assert one.read([]).shape == (0, 5)


def test_an_existing_row_is_not_changed(tmp_path: Path) -> None:
    file = VectorFile(tmp_path, "e", WIDTHS)
    file.add(["a"], rows_of(1))
    file.add(["b", "a"], rows_of(2, 9))
    file.add(["a"], rows_of(9))
    np.testing.assert_array_equal(file.read(["a", "b"]), rows_of(1, 2))
    assert len(np.load(tmp_path / "e.npy")) == 2


def test_float16_rounds_and_clips(tmp_path: Path) -> None:
    file = VectorFile(tmp_path, "e", WIDTHS, "float16")
    file.add(["a"], np.array([[1e9, -1e9, 1.0001, 2, 3]], np.float32))
    np.testing.assert_array_equal(file.read(["a"]), [[65504, -65504, 1, 2, 3]])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.integers(0, 400),
    st.integers(0, 400),
)
def test_truncated_files_keep_complete_rows_and_can_be_extended(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[int], cut_data: int, cut_index: int
) -> None:
    folder = tmp_path_factory.mktemp("file")
    names = [f"n{i}" for i in range(sum(blocks))]
    file = VectorFile(folder, "e", WIDTHS)
    for start, size in zip(np.cumsum([0, *blocks]), blocks, strict=False):
        part = names[start : start + size]
        file.add(part, rows_of(*range(start, start + size)))
    first_line = len((folder / "e.jsonl").read_bytes().split(b"\n")[0]) + 1
    for name, cut, at_least in (("e.npy", cut_data, 0), ("e.jsonl", cut_index, first_line)):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: max(len(content) - cut, at_least)])

    again = VectorFile(folder, "e", WIDTHS)
    complete = [name for name in names if name in again]
    assert complete == names[: len(complete)]
    np.testing.assert_array_equal(
        again.read(complete), rows_of(*range(len(complete))).reshape(-1, 5)
    )
    again.add(names, rows_of(*range(len(names))))
    np.testing.assert_array_equal(
        VectorFile(folder, "e", WIDTHS).read(names), rows_of(*range(len(names)))
    )


def test_rows_after_a_damaged_line_are_ignored(tmp_path: Path) -> None:
    file = VectorFile(tmp_path, "e", WIDTHS)
    file.add(["a", "b", "c"], rows_of(1, 2, 3))
    index = tmp_path / "e.jsonl"
    index.write_bytes(index.read_bytes().replace(b'"b"', b"\0\0\0"))
    again = VectorFile(tmp_path, "e", WIDTHS)
    assert [name in again for name in "abc"] == [True, False, False]
    again.add(["c", "b"], rows_of(3, 2))
    np.testing.assert_array_equal(VectorFile(tmp_path, "e", WIDTHS).read(["b", "c"]), rows_of(2, 3))


def test_the_hash_is_written_after_the_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it could refer to a row that a killed writer left incomplete."""
    file = VectorFile(tmp_path, "e", WIDTHS)
    file.add(["a"], rows_of(1))
    before = (tmp_path / "e.jsonl").read_bytes()

    def killed(self: AppendOnlyArray, start: int, rows: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(AppendOnlyArray, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        file.add(["b"], rows_of(2))
    assert (tmp_path / "e.jsonl").read_bytes() == before


@pytest.mark.parametrize("gone", [["e.npy"], ["e.jsonl"], ["e.npy", "e.jsonl"]])
def test_files_deleted_while_open_are_created_again(tmp_path: Path, gone: list[str]) -> None:
    file = VectorFile(tmp_path, "e", WIDTHS)
    file.add(["a", "b"], rows_of(1, 2))
    for name in gone:
        (tmp_path / name).unlink()
    file.add(["c"], rows_of(3))
    assert "a" not in file
    np.testing.assert_array_equal(VectorFile(tmp_path, "e", WIDTHS).read(["c"]), rows_of(3))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_reported_and_existing_rows_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    file = VectorFile(tmp_path, "e", WIDTHS)
    file.add(["a"], rows_of(1))

    def no_space(descriptor: int) -> None:
        raise OSError(code, "")

    monkeypatch.setattr("likewise.embedding.vector_file.os.fsync", no_space)
    with pytest.raises(
        EncoderError,
        match=r"The 1 vectors in .*the disk is full\. Existing vectors .*Free some space",
    ):
        file.add(["b"], rows_of(2))
    monkeypatch.undo()
    for one in (file, VectorFile(tmp_path, "e", WIDTHS)):
        assert "b" not in one
        np.testing.assert_array_equal(one.read(["a"]), rows_of(1))
    file.add(["b"], rows_of(2))
    np.testing.assert_array_equal(file.read(["b", "a"]), rows_of(2, 1))


def test_a_partial_write_keeps_existing_rows(tmp_path: Path) -> None:
    """The limit on the file size stops the write in the middle, as a full disk would."""
    file = VectorFile(tmp_path, "e", WIDTHS)
    file.add(["a"], rows_of(1))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(EncoderError, match="the disk is full"):
            file.add([f"n{i}" for i in range(1000)], np.ones((1000, 5), np.float32))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (tmp_path / "e.npy").stat().st_size < 4096
    np.testing.assert_array_equal(VectorFile(tmp_path, "e", WIDTHS).read(["a"]), rows_of(1))


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EncoderError, match=r"Not a directory.*LIKEWISE_CACHE"):
        VectorFile(tmp_path / "file" / "below", "e", WIDTHS)


def test_other_widths_are_rejected_with_both_widths(tmp_path: Path) -> None:
    VectorFile(tmp_path, "e", WIDTHS)
    with pytest.raises(
        EncoderError, match=r"has vectors of 5 numbers .*now returns 7 numbers .*Delete"
    ):
        VectorFile(tmp_path, "e", {"last": 3, "stage1": 4})


def test_blocks_in_another_order_are_rejected(tmp_path: Path) -> None:
    VectorFile(tmp_path, "e", WIDTHS)
    with pytest.raises(EncoderError, match="stage1 2, last 3"):
        VectorFile(tmp_path, "e", {"stage1": 2, "last": 3})


def test_a_newer_index_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_bytes(b'{"format": 99}\n')
    with pytest.raises(EncoderError, match=r"was written by a newer release\. Upgrade .* delete"):
        VectorFile(tmp_path, "e", WIDTHS)


HEADER = b'{"format": 1, "facets": {"last": 3, "stage1": 2}, "dtype": "float32"}\n'


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json\n",
        b"[]\n",
        b"\0\0\0\n",
        b"[" * 50_000 + b"\n",
        b'{"format": "1"}\n',
        HEADER.replace(b"float32", b"object"),
        HEADER.replace(b"3", b'"x"'),
        HEADER.replace(b'{"last": 3, "stage1": 2}', b"7"),
    ],
)
def test_a_damaged_index_is_replaced_with_a_warning(tmp_path: Path, line: bytes) -> None:
    VectorFile(tmp_path, "e", WIDTHS).add(["a"], rows_of(1))
    (tmp_path / "e.jsonl").write_bytes(line)
    with pytest.warns(LikewiseWarning, match=r"e\.jsonl was damaged; the vectors of e are comp"):
        file = VectorFile(tmp_path, "e", WIDTHS)
    assert len(file) == 0
    file.add(["a"], rows_of(2))
    np.testing.assert_array_equal(VectorFile(tmp_path, "e", WIDTHS).read(["a"]), rows_of(2))


@pytest.mark.parametrize(
    "what", [b"\0" * 200, b"\x93NUMPY\x01\x00v\x00{'descr': ((((", b"\xff" * 99]
)
def test_a_damaged_array_is_replaced_with_a_warning(tmp_path: Path, what: bytes) -> None:
    VectorFile(tmp_path, "e", WIDTHS).add(["a", "b"], rows_of(1, 2))
    with (tmp_path / "e.npy").open("r+b") as array:
        array.write(what)
    with pytest.warns(LikewiseWarning, match=r"e\.npy was damaged; the vectors of e are computed"):
        file = VectorFile(tmp_path, "e", WIDTHS)
    assert len(file) == 0
    file.add(["b"], rows_of(3))
    np.testing.assert_array_equal(VectorFile(tmp_path, "e", WIDTHS).read(["b"]), rows_of(3))


def test_an_array_whose_shape_differs_from_the_index_is_replaced(tmp_path: Path) -> None:
    VectorFile(tmp_path, "e", WIDTHS).add(["a"], rows_of(1))
    np.save(tmp_path / "e.npy", np.zeros((9, 4), np.float32))
    with pytest.warns(LikewiseWarning, match="was damaged"):
        assert len(VectorFile(tmp_path, "e", WIDTHS)) == 0


def test_a_hash_that_is_not_text_ends_the_rows(tmp_path: Path) -> None:
    VectorFile(tmp_path, "e", WIDTHS).add(["a", "b"], rows_of(1, 2))
    index = tmp_path / "e.jsonl"
    index.write_bytes(index.read_bytes().replace(b'"b"', b"[1]"))
    assert len(VectorFile(tmp_path, "e", WIDTHS)) == 1


def test_a_forgotten_row_is_appended_again_and_the_last_row_is_used(tmp_path: Path) -> None:
    file = VectorFile(tmp_path, "e", WIDTHS)
    file.add(["a", "b"], rows_of(1, 2))
    file.forget(["a"])
    assert "a" not in file
    file.add(["a", "b"], rows_of(5, 6))
    for one in (file, VectorFile(tmp_path, "e", WIDTHS)):
        np.testing.assert_array_equal(one.read(["a", "b"]), rows_of(5, 2))


@pytest.mark.parametrize("name", ["a/b", "", "..", "x y", "ü"])
def test_an_encoder_name_that_is_not_a_file_name_is_rejected(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidParameterError, match="name of an encoder must be a file name"):
        VectorFile(tmp_path, name, WIDTHS)


def test_rows_of_another_writer_are_read_and_not_overwritten(tmp_path: Path) -> None:
    first, second = VectorFile(tmp_path, "e", WIDTHS), VectorFile(tmp_path, "e", WIDTHS)
    first.add(["a"], rows_of(1))
    second.add(["b", "a"], rows_of(2, 9))
    first.add(["c", "b"], rows_of(3, 9))
    np.testing.assert_array_equal(first.read(["a", "b", "c"]), rows_of(1, 2, 3))


def start_writer(folder: Path, who: str, n_blocks: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(ADD_ROWS), str(folder), who, str(n_blocks)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def check_numbers(folder: Path, names: list[str]) -> VectorFile:
    file = VectorFile(folder, "numbers", {"all": WIDTH}, "float16")
    expected = np.array([[row_of(name)] for name in names])
    found = file.read(names)
    np.testing.assert_array_equal(found, np.broadcast_to(expected, found.shape))
    return file


@pytest.mark.slow
def test_two_processes_can_add_at_the_same_time(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, who, 40) for who in ("x", "y")]
    printed = [writer.communicate()[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(check_numbers(tmp_path, printed[0] + printed[1])) == 2 * 40 * 16


@pytest.mark.slow
def test_completed_rows_survive_a_kill(tmp_path: Path) -> None:
    moments, printed = random.Random(0), []
    for life in range(12):
        with start_writer(tmp_path, f"life{life}", 100_000) as writer:
            assert writer.stdout is not None
            first = writer.stdout.readline()
            time.sleep(moments.uniform(0, 0.05))
            writer.send_signal(signal.SIGKILL)
            lines = (first + writer.stdout.read()).split("\n")[:-1]
        printed += lines
        check_numbers(tmp_path, printed)
    assert len(printed) >= 12
