"""The speed benchmark of the constraint graph: its output, not the speed."""

import pytest

from benchmarks import speed_constraints
from benchmarks.speed_constraints import Row, consistent_answers, constraints_bench
from likewise.constraints.graph import ConstraintGraph
from likewise.random_streams import stream


def test_every_case_has_a_row_for_every_measurement(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed_constraints, "_memory_of", lambda *_: 12.0)
    constraints_bench(n_images=2_000, n_answers=500)
    lines = capsys.readouterr().out.splitlines()
    for what in ("an answer", "relations of 256", "a proof", "groups of all"):
        assert sum(what in line for line in lines) == len(speed_constraints.CASES)
    assert sum("12 MB of 300" in line for line in lines) == len(speed_constraints.CASES)
    for what in ("a retraction", "constrained assignment"):
        assert sum(what in line for line in lines) == 1


def test_the_answers_are_consistent() -> None:
    graph = ConstraintGraph(50)
    for answer in consistent_answers(50, 3, 400, stream(0, "answers")):
        assert graph.tell(answer).accepted
    assert (graph.pair_relations([(0, 1), (2, 3)]) != 0).all()


def test_a_row_says_when_something_is_too_slow() -> None:
    assert str(Row("case", "a proof", 0.009, 0.02, 0.01)).endswith(
        "9,000.0   20,000.0   10,000.0  ok"
    )
    assert str(Row("case", "a proof", 0.011, 0.02, 0.01)).endswith("TOO SLOW")
