"""Learning curves over the first answers."""

from pathlib import Path

import pytest
from sklearn.datasets import make_blobs

from benchmarks.analysis import first_answers
from benchmarks.analysis.first_answers import POINTS, curve


@pytest.mark.parametrize(("n_clusters", "spread"), [(8, 4.5), (None, 1.0)])
def test_no_answer_makes_the_grouping_worse(n_clusters: int | None, spread: float) -> None:
    X, truth = make_blobs(240, n_features=8, centers=8, cluster_std=spread, random_state=0)
    scores = curve(X, truth, n_clusters, seed=0)
    assert len(scores) == len(POINTS)
    assert min(scores) >= scores[0] - 0.05 - 1e-9
    assert scores[-1] > 0.95


def test_the_table_has_a_row_per_task_and_the_means(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(first_answers, "POINTS", (0, 1, 2))
    words = ["--data", str(tmp_path), "--tasks", "digits:parity", "--seeds", "1"]
    first_answers.main(words)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[:2] for line in lines[2:]] == [
        ["| digits:parity", "given"],
        ["| digits:parity", "not given"],
        ["| mean", "given"],
        ["| mean", "not given"],
    ]
