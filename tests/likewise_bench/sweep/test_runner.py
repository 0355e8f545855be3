import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from likewise.errors import DatasetError
from likewise_bench.sweep import runner as sweeping
from likewise_bench.sweep.results_file import read_rows
from likewise_bench.sweep.spec import read_sweep
from likewise_bench.tables.format import write
from likewise_bench.tables.layouts import make_tables
from tests.likewise_bench.sweep import toy

PREPARE = sweeping.prepare
ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import sys
from pathlib import Path
from likewise_bench.sweep import runner as sweeping
from likewise_bench.sweep.spec import read_sweep
from tests.likewise_bench.sweep import toy
if __name__ == "__main__":
    sweeping._PRELOAD[:] = ["likewise_bench.spec"]
    sweeping._perform, sweeping.prepare = toy.perform, toy.prepare
    sweeping.sweep(read_sweep(Path(sys.argv[1])), Path(sys.argv[2]), n_jobs=2)
"""
SWEEP = """
[[runs]]
on = { digits = "digit" }
data = "."
method = ["likewise", "pcl"]
questions = 10
seed = [0, 1, 2, 3]
"""


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "_PRELOAD", ["likewise_bench.spec"])
    monkeypatch.setattr(sweeping, "_perform", toy.perform)
    monkeypatch.setattr(sweeping, "prepare", toy.prepare)


def _sweep(tmp_path: Path, text: str, **options: Any) -> sweeping.Report:
    (tmp_path / "s.toml").write_text(text)
    wanted = read_sweep(tmp_path / "s.toml")
    return sweeping.sweep(wanted, tmp_path / "r.jsonl", **{"n_jobs": 2, **options})


def _without_times(path: Path) -> list[str]:
    rows = read_rows(path)
    times = ("seconds", "date")
    return [json.dumps({name: row[name] for name in row if name not in times}) for row in rows]


def _table(path: Path, to: str) -> bytes:
    """Return what ``likewise bench table --no-times`` writes."""
    return write(make_tables(read_rows(path), times=False), to).encode()


def test_a_killed_and_continued_sweep_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    script, file, out = (tmp_path / name for name in ("s.py", "s.toml", "killed.jsonl"))
    script.write_text(SCRIPT)
    file.write_text(SWEEP)
    (tmp_path / "halt").touch()
    command = [sys.executable, str(script), str(file), str(out)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/src"}
    with subprocess.Popen(command, env=environment, cwd=ROOT) as process:
        end = time.monotonic() + 60
        while not out.exists() or out.read_bytes().count(b"\n") < 2:
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    n_before = len(read_rows(out))
    assert 2 <= n_before < 8
    with out.open("ab") as stream:
        stream.write(b'{"spec": {"method": "pc')  # a line that was being written
    (tmp_path / "halt").unlink()
    report = sweeping.sweep(read_sweep(file), out, n_jobs=2)
    assert (report.n_rows, report.n_made, report.failed) == (8, 8 - n_before, [])
    _sweep(tmp_path, SWEEP)
    assert _without_times(out) == _without_times(tmp_path / "r.jsonl")
    for to in ("markdown", "latex", "csv"):
        table = _table(out, to)
        assert table.count(b".833") == 4  # mean over four seeds: two methods, all and unasked
        assert table == _table(tmp_path / "r.jsonl", to)


def test_finished_runs_are_not_repeated_and_runs_can_be_added(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    first = _sweep(tmp_path, SWEEP, step=lambda title: lambda d, n: told.append((title, d, n)))
    assert (first.n_made, told[-1]) == (8, ("runs", 8, 8))
    content = (tmp_path / "r.jsonl").read_bytes()
    assert _sweep(tmp_path, SWEEP).n_made == 0
    assert (tmp_path / "r.jsonl").read_bytes() == content
    assert _sweep(tmp_path, SWEEP.replace("3]", "3, 4]")).n_made == 2


def test_a_failed_run_is_stored_with_its_error_and_repeated(tmp_path: Path) -> None:
    text = '[[runs]]\non = { digits = "digit" }\nmethod = ["dec", "idec", "sdec", "likewise"]'
    report = _sweep(tmp_path, text)
    assert report.n_rows == 4
    errors = {row["method"]: row["error"] for row in report.failed}
    assert errors["dec"] == "dec=1 cannot be; try another."
    assert errors["idec"] == "ZeroDivisionError: a bug"
    assert "ended with code -9" in errors["sdec"]
    rows = read_rows(tmp_path / "r.jsonl")
    assert ["error" in row for row in rows] == [True, True, True, False]
    assert _sweep(tmp_path, text).n_made == 3
    assert len(read_rows(tmp_path / "r.jsonl")) == 4


def test_data_that_cannot_be_read_stop_the_sweep_before_the_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "prepare", PREPARE)
    text = '[[runs]]\non = { cards = "suit" }\ndata = "nowhere"\nmethod = "kmeans"'
    with pytest.raises(
        DatasetError, match=r"Nothing was run: .*nowhere.* for the data set 'cards'"
    ):
        _sweep(tmp_path, text)
    assert not (tmp_path / "r.jsonl").exists()


def test_rows_have_the_spec_and_the_environment(tmp_path: Path) -> None:
    _sweep(tmp_path, SWEEP, n_jobs=1)
    row = read_rows(tmp_path / "r.jsonl")[0]
    assert row["spec"]["method"] == "likewise"
    assert row["acc"] == 0.333333
    assert row["machine"]["cores"] >= 1
    assert row["n_threads"] == row["machine"]["cores"]
