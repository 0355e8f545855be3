import json
import subprocess
import sys
from pathlib import Path

import pytest

from likewise.estimators.registry import all_methods
from likewise_bench.datasets import DATASETS
from tests.cli.conftest import Run, colour_of, done, json_of
from tests.likewise_bench.tables.rows import row as row_of

FIELDS = (
    *("dataset", "criterion", "method", "strategy", "preset", "settings", "encoder", "protocol"),
    *("seed", "n_images", "n_clusters", "n_questions", "n_answers"),
    *("nmi", "ari", "acc", "fmi", "pair_f1", "raw", "unasked", "test"),
    *("baselines", "curve", "seconds", "peak_memory_mb"),
    *("estimate", "estimate_low", "estimate_high", "same_share", "largest_component"),
)
DIGITS = ("bench", "run", "--dataset", "digits", "--by", "digit", "--method", "kmeans")


def test_list_shows_data_sets_methods_strategies_and_encoders(run: Run) -> None:
    known = json_of(run("bench", "list", "--json"))
    assert set(known["datasets"]) == set(DATASETS)
    assert set(known["methods"]) == set(all_methods())
    assert known["methods"]["cc"] == {
        "presets": ["paper", "small"],
        "asks": [],
    }
    assert "uncertainty" in known["strategies"]
    assert known["encoders"][0] == "bundled"
    assert {"efficientnet-lite2", "hf:ID-OR-FOLDER"} <= set(known["encoders"])
    assert known["criteria"]["cifar10"] == ["class", "default", "personalised"]
    assert known["criteria"]["fruits"] == []  # its own table says, and is not read
    text = done(run("bench", "list")).stdout
    for word in ("digits", "scenes", "kmeans", "asks nothing; presets paper, small"):
        assert word in text
    assert "from scikit-learn; no files; by digit, parity, half\n" in text
    assert "playing cards: images/ and labels.csv\n" in text


def test_list_imports_no_method() -> None:
    code = (
        "import sys; from likewise_bench.cli.tables import list_; list_(True);"
        "assert not {'torch', 'sklearn', 'transformers'} & set(sys.modules)"
    )
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert listed.returncode == 0, listed.stderr


def test_help_names_the_only_strategy_of_the_default_method(run: Run) -> None:
    words = done(run("bench", "run", "--help")).stdout.replace("│", " ").split()
    assert "Method likewise: random." in " ".join(words)


SWEEP = """
[[runs]]
on = { digits = "parity" }
method = ["kmeans", "likewise"]
questions = 6
limit = 40
"""


@pytest.mark.slow
def test_the_rows_of_a_sweep_give_a_table_and_a_figure(run: Run) -> None:
    Path("s.toml").write_text(SWEEP)
    report = json_of(run("bench", "sweep", "s.toml", "-o", "rows.jsonl", "--jobs", 1, "--json"))
    assert (report["rows"], report["made"], report["failed"]) == (2, 2, 0)
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    assert [row["method"] for row in rows] == ["kmeans", "likewise"]
    assert rows[1]["n_answers"] == 6
    again = done(run("bench", "sweep", "s.toml", "-o", "rows.jsonl"))
    assert "2 rows in rows.jsonl, 0 of them new" in again.stdout
    table = done(run("bench", "table", "rows.jsonl", "--no-times")).stdout
    assert "| likewise | " in table
    assert "— perfect other criterion" in table
    page = done(run("bench", "table", "rows.jsonl", "--layout", "results", "-o", "page.md"))
    assert page.stdout == ""
    assert Path("page.md").read_text().startswith("# Results")
    done(run("bench", "plot", "answers", "rows.jsonl", "-o", "curve.svg"))
    assert Path("curve.svg").read_text().startswith("<?xml")


def test_a_sweep_with_a_failed_row_exits_with_code_one(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from likewise_bench.sweep import runner as sweeping
    from likewise_bench.sweep import runner as work
    from tests.likewise_bench.sweep import toy

    monkeypatch.setattr(work, "_PRELOAD", ["likewise_bench.spec"])
    monkeypatch.setattr(sweeping, "_perform", toy.perform)
    monkeypatch.setattr(sweeping, "prepare", toy.prepare)
    Path("s.toml").write_text('[[runs]]\non = { digits = "digit" }\nmethod = ["dec", "cc"]')
    result = run("bench", "sweep", "s.toml", "-o", "rows.jsonl")
    assert result.exit_code == 1
    assert "1 row failed:\n  dec digits digit: dec=1 cannot be; try another." in result.stderr
    assert "The same command runs them again" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sweep", "none.toml", "-o", "r.jsonl"], "'none.toml' cannot be opened"),
        (["sweep", "none.toml", "-o", "no/r.jsonl"], "no is not a folder"),
        (["table", "none.jsonl"], "'none.jsonl' cannot be read"),
        (["table", "empty.jsonl"], "The files contain no rows"),
        (["table", "row.jsonl", "--layout", "pcl"], "'pcl' is not a known layout"),
        (["table", "row.jsonl", "--to", "word"], "'word' is not a known format of a table"),
        (["table", "row.jsonl", "--to", "csv", "--layout", "results"], "cannot be written as csv"),
        (["plot", "answers", "-o", "a.png"], "'answers' needs results"),
        (["plot", "maps", "-o", "a.png"], "did you mean 'map'"),
        (["plot", "map", "-o", "a.gif"], "must be one of .png, .svg, .pdf"),
        (["plot", "map", "-o", "a.png", "--at", "soon"], "must be a list of integers"),
    ],
)
def test_invalid_arguments_of_sweep_table_and_plot_give_a_message(
    run: Run, words: list[str], message: str
) -> None:
    Path("empty.jsonl").touch()
    Path("row.jsonl").write_text(json.dumps(row_of("kmeans", 0.5)) + "\n")
    result = run("bench", *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert not Path("a.png").exists()


def test_a_row_has_the_promised_fields_in_their_order(run: Run) -> None:
    row = json_of(run(*DIGITS, "--json"))
    assert tuple(row) == (*FIELDS, "spec")
    assert (row["dataset"], row["n_images"], row["n_clusters"]) == ("digits", 1797, 10)
    assert (row["n_questions"], row["n_answers"], row["encoder"]) == (0, 0, None)
    assert row["acc"] > 0.6


def test_seconds_limit_the_simulated_time_and_orientation_is_an_alias_of_by(run: Run) -> None:
    words = ("bench", "run", "--dataset", "digits", "--orientation", "half", "--n-images", 100)
    row = json_of(run(*words, "--kinds", "pair", "--seconds", 11, "--json"))
    assert (row["criterion"], row["n_answers"]) == ("half", 5)
    assert row["seconds"]["person"] == row["curve"][-1]["person_seconds"] == 10
    assert row["spec"]["seconds"] == 11


def test_runs_with_different_options_are_separate_rows_of_a_table(run: Run) -> None:
    """By what a row says of itself the four would be one and the same run."""
    small = (*DIGITS, "--n-images", 100, "--json")
    chosen = ["--seed 0", "--set n_init=1", "-k 12", "--seed 1"]
    rows = [json_of(run(*small, *words.split())) for words in chosen]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = done(run("bench", "table", "rows.jsonl", "--no-times")).stdout
    lines = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| kmeans")]
    assert lines == ["| kmeans", "| kmeans, n_init=1", "| kmeans, k=12"]


def test_a_row_can_also_be_written_to_a_file(run: Run) -> None:
    row = json_of(run(*DIGITS, "--n-images", 200, "-o", "row.json", "--json"))
    assert json.loads(Path("row.json").read_text()) == row
    assert "| kmeans |" in done(run("bench", "table", "row.json")).stdout


def test_without_json_the_scores_are_printed_as_text(run: Run) -> None:
    result = done(run(*DIGITS, "--protocol", "inductive", "--n-images", 200))
    for words in ("kmeans on digits by digit", "held out", "majority", "other criterion"):
        assert words in result.stdout


def test_an_image_folder_with_a_table_of_labels_is_clustered(run: Run, photos: Path) -> None:
    names = sorted(path.relative_to(photos).as_posix() for path in photos.rglob("*.png"))
    lines = [f"{name},{colour_of(name)},{name.split('/')[0]}\n" for name in names]
    Path("labels.csv").write_text("file,colour,age\n" + "".join(lines))
    words = ["bench", "run", "--images", photos, "--labels", "labels.csv", "--method", "kmeans"]
    row = json_of(run(*words, "--by", "colour", "--json"))
    assert (row["dataset"], row["n_clusters"], row["acc"]) == ("photos", 3, 1.0)
    assert row["encoder"].startswith("efficientnet-lite")
    assert row["baselines"]["other_criterion_acc"] == pytest.approx(8 / 24)
    refused = run(*words)
    assert refused.exit_code == 1
    assert "choose one with --by: colour, age" in refused.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--dataset", "digit"], "'digit' is not a known data set; did you mean 'digits'"),
        (["--dataset", "digits", "--by", "size"], "'size' is not a known criterion of"),
        (
            ["--dataset", "digits", "--images", "x", "--labels", "y"],
            "Give either the name of a data set",
        ),
        (["--dataset", "cifar10", "--by", "default"], "cifar10"),
        (["--dataset", "cifar10", "--data", "nowhere"], "nowhere"),
        ([*DIGITS[2:], "--strategy", "random"], "'kmeans' has no query strategy"),
        ([*DIGITS[2:], "--from-scratch"], "KMeans works on vectors and cannot be trained"),
        ([*DIGITS[2:], "--method", "cc", "--set", "backbone=resnet18"], "add --from-scratch"),
        ([*DIGITS[2:], "--test-fraction", "0.5"], "need the inductive protocol"),
        ([*DIGITS[2:], "--kinds", "pairs"], "did you mean 'pair'"),
        ([*DIGITS[2:], "--preset", "paper"], "not a known preset of KMeans"),
        ([*DIGITS[2:], "--method", "likewise", "--strategy", "csd"], "strategy of likewise"),
        (["--dataset", "cards"], "or your own images and labels (--images DIR --labels"),
    ],
)
def test_invalid_arguments_of_run_give_a_message_and_no_row(
    run: Run, words: list[str], message: str
) -> None:
    result = run("bench", "run", *words, "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
