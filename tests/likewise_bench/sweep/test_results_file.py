import json
from pathlib import Path

import pytest

from likewise.errors import OutputError, ResultsFileError
from likewise_bench.sweep.results_file import ResultsFile, read_results, read_rows
from tests.likewise_bench.tables.rows import row

ONE = {"spec": {"method": "kmeans", "seed": 1}, "acc": 0.5}
TWO = {"spec": {"method": "kmeans", "seed": 2}, "acc": 0.6}


def test_a_truncated_row_is_removed_and_run_again(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ResultsFile(path) as results:
        results.add(ONE)
        results.add(TWO)
    whole = path.read_bytes()
    for n in range(1, len(whole) - 1, 5):
        path.write_bytes(whole[:n])
        with ResultsFile(path) as results:
            assert results.is_done(ONE["spec"]) == (n > whole.index(b"\n"))  # type: ignore[arg-type]  # a dict
            assert not results.is_done(TWO["spec"])  # type: ignore[arg-type]  # a dict
            results.add(ONE)
            results.add(TWO)
        assert read_rows(path)[-2:] == [ONE, TWO]


def test_rows_are_sorted_and_rows_of_other_sweeps_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    other = {"method": "cc", "acc": 0.1}  # made by `bench run --json >> r.jsonl`
    path.write_text('{"method": "cc", "acc": 0.1}\n')
    with ResultsFile(path) as results:
        results.add(TWO)
        results.add({**ONE, "acc": None, "error": "no"})
        results.add(ONE)
        results.put_in_order([{"method": "kmeans", "seed": 1}, {"seed": 2, "method": "kmeans"}])
    assert read_rows(path) == [ONE, TWO, other]


def test_two_sweeps_cannot_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ResultsFile(path), pytest.raises(OutputError, match="is being written by another sweep"):
        ResultsFile(path).__enter__()
    with ResultsFile(path):
        pass


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{\n{}\n", "Line 1 of .* is not JSON"),
        ('{"method": "cc"}\n[3]\n', "Line 2 of .* is not a result row"),
        ('{"acc": 1}\n{}\n', "Line 1 of .* has no 'method'"),
        ('{"spec": 3, "method": "cc"}\n{}\n', "Line 1 of .* is not a result row"),
    ],
)
def test_a_file_without_result_rows_is_rejected(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(content)
    with pytest.raises(ResultsFileError, match=message):
        ResultsFile(path).__enter__()
    assert path.read_text() == content


def test_a_missing_file_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(ResultsFileError, match="create it with `likewise bench sweep`"):
        read_rows(tmp_path / "none.jsonl")


def test_a_row_without_a_required_field_is_rejected_unless_it_failed(tmp_path: Path) -> None:
    whole, failed = row("kmeans", 0.5), {"spec": {"method": "cc"}, "error": "no"}
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (whole, failed)))
    assert read_results([path, path]) == [whole, failed] * 2
    del whole["baselines"]
    path.write_text(json.dumps(whole) + "\n")
    with pytest.raises(
        ResultsFileError, match=r"'kmeans' lacks the field 'baselines'; run it again, or"
    ):
        read_results([path])


def test_a_sweep_without_a_row_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ResultsFile(path):
        assert path.exists()
    assert not path.exists()
    with ResultsFile(path) as results:
        results.add(ONE)
    with ResultsFile(path):
        pass
    assert read_rows(path) == [ONE]
