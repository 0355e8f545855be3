import json
from pathlib import Path

import pytest

from likewise.errors import OutputError, ResultsFileError
from likewise_bench.sweep.results_file import ResultsFile, read_results, read_rows
from tests.likewise_bench.tables.rows import row

ONE = {"spec": {"method": "kmeans", "seed": 1}, "acc": 0.5}
TWO = {"spec": {"method": "kmeans", "seed": 2}, "acc": 0.6}


def test_a_row_that_was_cut_off_is_made_again_and_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ResultsFile(path) as ledger:
        ledger.add(ONE)
        ledger.add(TWO)
    whole = path.read_bytes()
    for n in range(1, len(whole) - 1, 5):
        path.write_bytes(whole[:n])
        with ResultsFile(path) as ledger:
            assert ledger.is_done(ONE["spec"]) == (n > whole.index(b"\n"))  # type: ignore[arg-type]  # a dict
            assert not ledger.is_done(TWO["spec"])  # type: ignore[arg-type]  # a dict
            ledger.add(ONE)
            ledger.add(TWO)
        assert read_rows(path)[-2:] == [ONE, TWO]


def test_rows_are_put_in_order_and_those_of_others_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    other = {"method": "cc", "acc": 0.1}  # made by `bench run --json >> r.jsonl`
    path.write_text('{"method": "cc", "acc": 0.1}\n')
    with ResultsFile(path) as ledger:
        ledger.add(TWO)
        ledger.add({**ONE, "acc": None, "error": "no"})
        ledger.add(ONE)
        ledger.put_in_order([{"method": "kmeans", "seed": 1}, {"seed": 2, "method": "kmeans"}])
    assert read_rows(path) == [ONE, TWO, other]


def test_two_sweeps_do_not_write_into_one_file(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ResultsFile(path), pytest.raises(OutputError, match="is being written by another sweep"):
        ResultsFile(path).__enter__()
    with ResultsFile(path):
        pass


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{\n{}\n", "Line 1 of .* is no JSON"),
        ('{"method": "cc"}\n[3]\n', "Line 2 of .* is no row of the benchmark"),
        ('{"acc": 1}\n{}\n', "Line 1 of .* names no method"),
        ('{"spec": 3, "method": "cc"}\n{}\n', "Line 1 of .* is no row of the benchmark"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(content)
    with pytest.raises(ResultsFileError, match=message):
        ResultsFile(path).__enter__()
    assert path.read_text() == content


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ResultsFileError, match="make it with `likewise bench sweep`"):
        read_rows(tmp_path / "none.jsonl")


def test_a_row_that_lacks_what_tables_need_is_named_and_a_failed_one_is_not(tmp_path: Path) -> None:
    whole, failed = row("kmeans", 0.5), {"spec": {"method": "cc"}, "error": "no"}
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (whole, failed)))
    assert read_results([path, path]) == [whole, failed] * 2
    del whole["baselines"]
    path.write_text(json.dumps(whole) + "\n")
    with pytest.raises(ResultsFileError, match=r"'kmeans' has no 'baselines'.* run it again, or"):
        read_results([path])


def test_a_sweep_without_a_row_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ResultsFile(path):
        assert path.exists()
    assert not path.exists()
    with ResultsFile(path) as ledger:
        ledger.add(ONE)
    with ResultsFile(path):
        pass
    assert read_rows(path) == [ONE]
