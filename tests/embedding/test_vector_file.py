"""The kept vectors of one encoder: nothing finished is lost, whatever happens."""

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
from tests.encoders.adder import WIDTH, row_of

from likewise.embedding.vector_file import AppendOnlyArray, VectorFile
from likewise.errors import EncoderError, InvalidParameterError

ADDER = Path(__file__).with_name("adder.py")
FACETS = {"last": 3, "stage1": 2}


def rows_of(*numbers: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.array([[n] * 5 for n in numbers], dtype=np.float32)


def test_rows_come_back_in_the_order_asked_for(tmp_path: Path) -> None:
    shelf = VectorFile(tmp_path, "e", FACETS)
    shelf.add(["a", "b"], rows_of(1, 2))
    shelf.add(["c"], rows_of(3))
    for one in (shelf, VectorFile(tmp_path, "e", FACETS)):
        assert len(one) == 3
        np.testing.assert_array_equal(one.read(["c", "a", "b", "a"]), rows_of(3, 1, 2, 1))
        assert one.read([]).shape == (0, 5)


def test_a_row_that_is_kept_already_stays_as_it_is(tmp_path: Path) -> None:
    shelf = VectorFile(tmp_path, "e", FACETS)
    shelf.add(["a"], rows_of(1))
    shelf.add(["b", "a"], rows_of(2, 9))
    shelf.add(["a"], rows_of(9))
    np.testing.assert_array_equal(shelf.read(["a", "b"]), rows_of(1, 2))
    assert len(np.load(tmp_path / "e.npy")) == 2


def test_float16_rounds_and_stops_at_its_end(tmp_path: Path) -> None:
    shelf = VectorFile(tmp_path, "e", FACETS, "float16")
    shelf.add(["a"], np.array([[1e9, -1e9, 1.0001, 2, 3]], np.float32))
    np.testing.assert_array_equal(shelf.read(["a"]), [[65504, -65504, 1, 2, 3]])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.integers(0, 400),
    st.integers(0, 400),
)
def test_whatever_is_cut_off_the_rest_is_whole_and_can_be_completed(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[int], cut_data: int, cut_index: int
) -> None:
    folder = tmp_path_factory.mktemp("shelf")
    names = [f"n{i}" for i in range(sum(blocks))]
    shelf = VectorFile(folder, "e", FACETS)
    for start, size in zip(np.cumsum([0, *blocks]), blocks, strict=False):
        part = names[start : start + size]
        shelf.add(part, rows_of(*range(start, start + size)))
    first_line = len((folder / "e.jsonl").read_bytes().split(b"\n")[0]) + 1
    for file, cut, at_least in (("e.npy", cut_data, 0), ("e.jsonl", cut_index, first_line)):
        content = (folder / file).read_bytes()
        (folder / file).write_bytes(content[: max(len(content) - cut, at_least)])

    again = VectorFile(folder, "e", FACETS)
    kept = [name for name in names if name in again]
    assert kept == names[: len(kept)]
    np.testing.assert_array_equal(again.read(kept), rows_of(*range(len(kept))).reshape(-1, 5))
    again.add(names, rows_of(*range(len(names))))
    np.testing.assert_array_equal(
        VectorFile(folder, "e", FACETS).read(names), rows_of(*range(len(names)))
    )


def test_a_damaged_line_ends_what_counts(tmp_path: Path) -> None:
    shelf = VectorFile(tmp_path, "e", FACETS)
    shelf.add(["a", "b", "c"], rows_of(1, 2, 3))
    index = tmp_path / "e.jsonl"
    index.write_bytes(index.read_bytes().replace(b'"b"', b"\0\0\0"))
    again = VectorFile(tmp_path, "e", FACETS)
    assert [name in again for name in "abc"] == [True, False, False]
    again.add(["c", "b"], rows_of(3, 2))
    np.testing.assert_array_equal(VectorFile(tmp_path, "e", FACETS).read(["b", "c"]), rows_of(2, 3))


def test_a_hash_is_written_after_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it could be taken for the hash of a row that a killed writer left behind."""
    shelf = VectorFile(tmp_path, "e", FACETS)
    shelf.add(["a"], rows_of(1))
    before = (tmp_path / "e.jsonl").read_bytes()

    def killed(self: AppendOnlyArray, start: int, rows: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(AppendOnlyArray, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        shelf.add(["b"], rows_of(2))
    assert (tmp_path / "e.jsonl").read_bytes() == before


@pytest.mark.parametrize("gone", [["e.npy"], ["e.jsonl"], ["e.npy", "e.jsonl"]])
def test_files_deleted_while_open_only_cost_time(tmp_path: Path, gone: list[str]) -> None:
    shelf = VectorFile(tmp_path, "e", FACETS)
    shelf.add(["a", "b"], rows_of(1, 2))
    for file in gone:
        (tmp_path / file).unlink()
    shelf.add(["c"], rows_of(3))
    assert "a" not in shelf
    np.testing.assert_array_equal(VectorFile(tmp_path, "e", FACETS).read(["c"]), rows_of(3))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_says_what_to_do_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    shelf = VectorFile(tmp_path, "e", FACETS)
    shelf.add(["a"], rows_of(1))

    def no_space(descriptor: int) -> None:
        raise OSError(code, "")

    monkeypatch.setattr("likewise.embedding.vector_file.os.fsync", no_space)
    with pytest.raises(EncoderError, match=r"The 1 vectors in .*the disk is full\. Nothing .*free"):
        shelf.add(["b"], rows_of(2))
    monkeypatch.undo()
    for one in (shelf, VectorFile(tmp_path, "e", FACETS)):
        assert "b" not in one
        np.testing.assert_array_equal(one.read(["a"]), rows_of(1))
    shelf.add(["b"], rows_of(2))
    np.testing.assert_array_equal(shelf.read(["b", "a"]), rows_of(2, 1))


def test_a_disk_that_really_is_full(tmp_path: Path) -> None:
    """The limit on the size of a file stands for the disk; the write stops in the middle."""
    shelf = VectorFile(tmp_path, "e", FACETS)
    shelf.add(["a"], rows_of(1))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(EncoderError, match="the disk is full"):
            shelf.add([f"n{i}" for i in range(1000)], np.ones((1000, 5), np.float32))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (tmp_path / "e.npy").stat().st_size < 4096
    np.testing.assert_array_equal(VectorFile(tmp_path, "e", FACETS).read(["a"]), rows_of(1))


def test_a_folder_that_cannot_be_made_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EncoderError, match=r"Not a directory.*LIKEWISE_CACHE"):
        VectorFile(tmp_path / "file" / "below", "e", FACETS)


def test_vectors_of_another_length_are_refused_with_both_lengths(tmp_path: Path) -> None:
    VectorFile(tmp_path, "e", FACETS)
    with pytest.raises(EncoderError, match=r"holds 5 numbers .*now gives 7 numbers .*delete"):
        VectorFile(tmp_path, "e", {"last": 3, "stage1": 4})


def test_facets_in_another_order_are_other_facets(tmp_path: Path) -> None:
    VectorFile(tmp_path, "e", FACETS)
    with pytest.raises(EncoderError, match="stage1 2, last 3"):
        VectorFile(tmp_path, "e", {"stage1": 2, "last": 3})


@pytest.mark.parametrize("line", [b"", b"not json\n", b"[]\n", b'{"format": 99}\n', b"\0\0\0\n"])
def test_a_damaged_or_newer_index_is_refused_in_words(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "e.jsonl").write_bytes(line)
    with pytest.raises(EncoderError, match="damaged or from a newer release; delete it"):
        VectorFile(tmp_path, "e", FACETS)


@pytest.mark.parametrize("name", ["a/b", "", "..", "x y", "ü"])
def test_a_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidParameterError, match="cannot be a file name"):
        VectorFile(tmp_path, name, FACETS)


def test_what_another_process_adds_is_seen_and_not_overwritten(tmp_path: Path) -> None:
    first, second = VectorFile(tmp_path, "e", FACETS), VectorFile(tmp_path, "e", FACETS)
    first.add(["a"], rows_of(1))
    second.add(["b", "a"], rows_of(2, 9))
    first.add(["c", "b"], rows_of(3, 9))
    np.testing.assert_array_equal(first.read(["a", "b", "c"]), rows_of(1, 2, 3))


def start_adder(folder: Path, who: str, n_blocks: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(ADDER), str(folder), who, str(n_blocks)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def check_numbers(folder: Path, names: list[str]) -> VectorFile:
    shelf = VectorFile(folder, "numbers", {"all": WIDTH}, "float16")
    expected = np.array([[row_of(name)] for name in names])
    found = shelf.read(names)
    np.testing.assert_array_equal(found, np.broadcast_to(expected, found.shape))
    return shelf


@pytest.mark.slow
def test_two_processes_add_at_once(tmp_path: Path) -> None:
    adders = [start_adder(tmp_path, who, 40) for who in ("x", "y")]
    said = [adder.communicate()[0].split() for adder in adders]
    assert [adder.returncode for adder in adders] == [0, 0]
    assert len(check_numbers(tmp_path, said[0] + said[1])) == 2 * 40 * 16


@pytest.mark.slow
def test_what_was_finished_is_there_after_any_kill(tmp_path: Path) -> None:
    moments, said = random.Random(0), []
    for life in range(12):
        with start_adder(tmp_path, f"life{life}", 100_000) as adder:
            assert adder.stdout is not None
            first = adder.stdout.readline()
            time.sleep(moments.uniform(0, 0.05))
            adder.send_signal(signal.SIGKILL)
            lines = (first + adder.stdout.read()).split("\n")[:-1]
        said += lines
        check_numbers(tmp_path, said)
    assert len(said) >= 12
