import json
from pathlib import Path

import pytest

from likewise.benchmark.datasets import DATASETS
from likewise.methods.registry import PROMISED
from tests.cli.conftest import Run, colour_of, done, json_of

FIELDS = (
    *("dataset", "orientation", "method", "strategy", "preset", "settings", "encoder", "protocol"),
    *("seed", "n_images", "n_clusters", "n_questions", "n_answers"),
    *("nmi", "ari", "acc", "fmi", "pair_f1", "unasked", "test"),
    *("baselines", "curve", "seconds", "peak_memory_mb"),
)
DIGITS = ("bench", "run", "--dataset", "digits", "--orientation", "digit", "--method", "kmeans")


def test_everything_that_can_be_chosen_is_listed(run: Run) -> None:
    known = json_of(run("bench", "list", "--json"))
    assert set(known["datasets"]) == set(DATASETS)
    assert set(known["methods"]) == set(PROMISED)
    assert known["methods"]["cc"] == {"is_built": True, "presets": ["paper", "small"]}
    assert "uncertainty" in known["strategies"]
    text = done(run("bench", "list")).stdout
    for word in ("digits", "scenes", "kmeans", "presets paper, small", "not built yet"):
        assert word in text


def test_a_row_has_the_promised_fields_in_their_order(run: Run) -> None:
    row = json_of(run(*DIGITS, "--json"))
    assert tuple(row) == FIELDS
    assert (row["dataset"], row["n_images"], row["n_clusters"]) == ("digits", 1797, 10)
    assert (row["n_questions"], row["n_answers"], row["encoder"]) == (0, 0, None)
    assert row["acc"] > 0.6


def test_a_row_can_also_go_to_a_file(run: Run) -> None:
    row = json_of(run(*DIGITS, "--n-images", 200, "-o", "row.json", "--json"))
    assert json.loads(Path("row.json").read_text()) == row


def test_without_json_a_person_reads_the_scores(run: Run) -> None:
    result = done(run(*DIGITS, "--protocol", "inductive", "--n-images", 200))
    for words in ("kmeans on digits by digit", "held out", "majority", "other orientation"):
        assert words in result.stdout


def test_a_folder_with_a_table_of_labels(run: Run, photos: Path) -> None:
    names = sorted(path.relative_to(photos).as_posix() for path in photos.rglob("*.png"))
    lines = [f"{name},{colour_of(name)},{name.split('/')[0]}\n" for name in names]
    Path("labels.csv").write_text("file,colour,age\n" + "".join(lines))
    words = ["bench", "run", "--images", photos, "--labels", "labels.csv", "--method", "kmeans"]
    row = json_of(run(*words, "--orientation", "colour", "--json"))
    assert (row["dataset"], row["n_clusters"], row["acc"]) == ("photos", 3, 1.0)
    assert row["encoder"].startswith("efficientnet-lite")
    assert row["baselines"]["other_orientation_acc"] == pytest.approx(8 / 24)
    refused = run(*words)
    assert refused.exit_code == 1
    assert "choose one with --orientation: colour, age" in refused.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--dataset", "digit"], "'digit' is not a known data set; did you mean 'digits'"),
        (["--dataset", "digits", "--orientation", "size"], "'size' is not a known orientation of"),
        (["--dataset", "digits", "--images", "x", "--labels", "y"], "either a data set by name"),
        (["--dataset", "cifar10", "--orientation", "default"], "cifar10"),
        (["--dataset", "cifar10", "--data", "nowhere"], "nowhere"),
        ([*DIGITS[2:], "--strategy", "random"], "'kmeans' has no strategy to choose"),
        ([*DIGITS[2:], "--from-scratch"], "KMeans works on vectors and trains no network"),
        ([*DIGITS[2:], "--method", "cc", "--set", "backbone=resnet18"], "add --from-scratch"),
        ([*DIGITS[2:], "--test-fraction", "0.5"], "only the inductive protocol does"),
        ([*DIGITS[2:], "--kinds", "pairs"], "did you mean 'pair'"),
        ([*DIGITS[2:], "--preset", "paper"], "not a known preset of KMeans"),
        ([*DIGITS[2:], "--method", "spherepair"], "'spherepair' is not built yet in this release"),
    ],
)
def test_what_does_not_fit_is_a_message_and_no_half_row(
    run: Run, words: list[str], message: str
) -> None:
    result = run("bench", "run", *words, "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
