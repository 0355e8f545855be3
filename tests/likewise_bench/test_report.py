import json
from pathlib import Path
from typing import Any

from likewise_bench.report import report
from likewise_bench.sweep.spec import read_sweep, spec_of
from likewise_bench.tables.layouts import noise_table
from tests.likewise_bench.tables.rows import row

ROOT = Path(__file__).resolve().parents[2]
SWEEP = """
title = "A small one"
about = "Why it is run."
[[runs]]
on = { cards = ["suit", "colour"] }
method = ["likewise", "pcl"]
questions = 100
seed = [0, 1]
"""


def _kept(tmp_path: Path, n_rows: int) -> Path:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "small.toml").write_text(SWEEP)
    runs = read_sweep(tmp_path / "benchmarks" / "small.toml").runs[:n_rows]
    lines = [_row(spec_of(run)) for run in runs]
    file = tmp_path / "docs" / "research" / "runs" / "small.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def _row(spec: dict[str, Any]) -> dict[str, Any]:
    made = row(spec["method"], 0.7, seed=spec.get("seed", 0), criterion=spec["criterion"])
    return {**made, "spec": spec, "date": "2026-11-16"}


def test_the_page_names_environments_and_commands(tmp_path: Path) -> None:
    page = report([_kept(tmp_path, 8)])
    for words in (
        "## A small one",
        "Why it is run.",
        "likewise bench sweep benchmarks/small.toml -o docs/research/runs/small.jsonl",
        "8 rows, 2026-11-16 to 2026-11-16: processor a chip, cores 2",
        "### cards by suit, pretrained (lite)",
        "seeds 0, 1",
        "shared the cores, so seconds are only roughly comparable.",
    ):
        assert words in page
    assert "missing" not in page


def test_the_page_lists_missing_rows(tmp_path: Path) -> None:
    page = report([_kept(tmp_path, 3)])
    assert "**3 of 8 rows are present; missing:**" in page
    assert "- cards by suit: pcl (1)" in page
    assert "- cards by colour: likewise (2), pcl (2)" in page
    assert "| likewise | .700 ± .000 |" in page


def test_the_page_lists_sweeps_without_results(tmp_path: Path) -> None:
    file = _kept(tmp_path, 8)
    assert "nothing was run yet" not in report([file])
    (tmp_path / "benchmarks" / "later.toml").write_text(SWEEP.replace("A small one", "Later"))
    assert "Sweeps without results: `later.toml` (Later)." in report([file])


def test_tables_of_papers_without_our_results_are_only_listed(tmp_path: Path) -> None:
    file = tmp_path / "other.jsonl"
    ours = row("pcl", 0.9, dataset="cifar10", criterion="personalised", strategy="joint")
    file.write_text(json.dumps(ours) + "\n")
    page = report([file])
    assert "### PCL, Table 3: cifar10 by personalised" in page
    assert "### PCL, Table 3: cifar100" not in page
    assert "without our results" in page
    assert "CC, Table 2" in page.rpartition("no run of ours yet")[2]


def test_the_page_without_results_shows_a_message(tmp_path: Path) -> None:
    (tmp_path / "few_answers.jsonl").touch()
    assert "There are no results yet." in report([tmp_path / "few_answers.jsonl"])


def test_the_loss_by_wrong_answers_is_paired_by_seed() -> None:
    clean = [row("likewise", acc, seed=seed) for seed, acc in enumerate((0.9, 0.8))]
    noisy = [row("likewise", acc, seed=seed, noise=0.1) for seed, acc in enumerate((0.8, 0.8, 0.1))]
    (table,) = noise_table([*clean, *noisy])
    assert str(table.rows[0][3]) == str(table.rows[-1][3]) == ".050 ± .071"
    assert noise_table(clean) == noise_table(noisy) == []
