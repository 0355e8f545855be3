"""Probes of a representation, and differences of two strategies."""

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

import benchmarks.analysis.paired_comparison as paired_
import benchmarks.analysis.representation_probe as targeted_
import benchmarks.analysis.supervised_upper_bound as ceiling_
from benchmarks.analysis.paired_comparison import difference, paired
from benchmarks.analysis.representation_probe import probes
from benchmarks.speed_step import NETWORK, OURS, rows, time_steps
from likewise.errors import InvalidParameterError
from likewise.random_streams import stream
from likewise_bench.datasets import Dataset
from likewise_bench.spec import RunSpec
from tests.estimators.made_data import two_factors

X, BOLD, FAINT = two_factors(160)
SMALL = {
    "epochs_per_round": "4",
    "n_rounds": "2",
    "batch_size": "40",
    "n_features": "32",
    "n_hidden": "32",
}


@pytest.fixture(autouse=True)
def _two_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = Dataset("made", {"bold": BOLD.astype(str), "faint": FAINT.astype(str)}, vectors=X)
    for module in (targeted_, ceiling_):
        monkeypatch.setattr(module, "load", lambda run: dataset)


def test_a_probe_measures_the_criterion_in_the_representation() -> None:
    rng = stream(0)
    shown = rng.normal(size=(200, 4)) + 6 * (np.arange(200) % 2)[:, None]
    labels = {"wanted": np.arange(200) % 2, "other": rng.integers(2, size=200)}
    found = probes(shown, labels, np.arange(200), seed=0)
    assert min(found["wanted"].values()) > 0.95
    assert max(found["other"].values()) < 0.7


def test_answers_move_the_representation_towards_the_criterion(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--dataset", "made", "--by", "faint", "--other", "bold", "--questions", "40"]
    targeted_.main([*words, *(f"--set={key}={value}" for key, value in SMALL.items())])
    row = json.loads(capsys.readouterr().out)
    assert row["n_answers"] == 40
    assert row["after"]["wanted"]["knn"] >= row["before"]["wanted"]["knn"] - 0.02
    assert set(row["before"]) == set(row["after"]) == {"wanted", "other"}
    met = row["links_met"]
    assert met["linked"] > met["uniform"] + 0.2
    assert met["linked"] > met["fixed"] + 0.2
    assert len(row["log"]["links_met"]) == len(row["log"]["size_entropy"]) == 8


def test_the_upper_bound_is_trained_on_labels_of_other_images(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ceiling_.main(["--dataset", "made", "--by", "faint", "--seeds", "2"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["seed"] for line in lines] == [0, 1]
    assert all(line["ceiling_acc"] > 0.95 for line in lines)
    nonsense = stream(0).integers(2, size=160)
    assert ceiling_.cross_validated(X, nonsense, seed=0) < 0.65


def test_the_upper_bound_of_a_part_uses_its_images(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    train, test = np.arange(0, 160, 2), np.arange(1, 160, 2)[:50]
    made = Dataset("made", {"faint": FAINT.astype(str)}, vectors=X, train=train, test=test)
    monkeypatch.setattr(ceiling_, "load", lambda run: made)
    words = ["--dataset", "made", "--by", "faint", "--seeds", "1"]
    ceiling_.main([*words, "--split", "test"])
    assert json.loads(capsys.readouterr().out)["n_images"] == 50


def test_the_interval_is_that_of_a_paired_t_test() -> None:
    first, second = stream(1).normal(size=(2, 8))
    found = difference(first - second)
    truth = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert (found["low"], found["high"]) == pytest.approx((truth.low, truth.high), abs=1e-4)
    assert found["difference"] == pytest.approx(np.mean(first - second), abs=1e-4)


def test_both_strategies_run_with_the_same_seeds_and_budgets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    performed: list[RunSpec] = []

    def perform(run: RunSpec) -> dict[str, Any]:
        performed.append(run)
        mark = 0.5 + 0.1 * (run.strategy == "joint") + 0.01 * run.seed
        return {"acc": 0.0, "unasked": {"acc": mark}}

    monkeypatch.setattr(paired_, "run_benchmark", perform)
    words = [
        "--dataset",
        "digits",
        "--by",
        "digit",
        "--questions",
        "5",
        "9",
        "--seeds",
        "3",
    ]
    paired_.main(words)
    out = capsys.readouterr()
    row = json.loads(out.out)
    assert [p["difference"] for p in row["points"]] == pytest.approx([0.1, 0.1])
    assert "9 answers: +0.100" in out.err
    asked = {(run.n_questions, run.seed, run.strategy) for run in performed}
    assert asked == {(n, s, r) for n in (5, 9) for s in range(3) for r in ("joint", "random")}


def test_an_interval_needs_two_seeds() -> None:
    run = RunSpec(method="pcl", dataset="digits", criterion="digit")
    with pytest.raises(InvalidParameterError, match="n_seeds must be at least 2"):
        paired(run, ("joint", "random"), [5], 1)


def test_a_step_is_timed_part_by_part() -> None:
    seconds = time_steps("resnet18:width=4,stem=3x3/2", 1)
    assert set(seconds) == {*NETWORK, *OURS}
    assert all(value > 0 for value in seconds.values())


@pytest.mark.parametrize(
    ("ours", "share", "ratio"),
    [
        (0.04, "holds", "1.042 (at most 1.05: holds)"),
        (0.049, "holds", "1.052 (at most 1.05: DOES NOT HOLD)"),
        (0.06, "DOES NOT HOLD", "1.064 (at most 1.05: DOES NOT HOLD)"),
    ],
)
def test_the_time_outside_the_network_is_checked(ours: float, share: str, ratio: str) -> None:
    seconds = {**dict.fromkeys(NETWORK, (1 - ours) / 3), **dict.fromkeys(OURS, ours / 4)}
    of_step, of_bare_step = list(rows("resnet18", seconds))[-2:]
    assert of_step.endswith(f"(at most 5%: {share})")
    assert of_bare_step.endswith(f"step with questions / bare step {ratio}")
