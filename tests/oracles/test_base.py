from likewise.constraints.question import Question
from likewise.oracles.base import CountingOracle
from likewise.oracles.simulated import LabelOracle


def test_answers_are_counted_by_kind_and_the_unsure_ones_too() -> None:
    oracle = CountingOracle(LabelOracle(["a", "b", None]))
    assert oracle.n_answers == 0
    oracle.answer([Question.pair(0, 1), Question.pair(0, 2), Question.label(1)])
    oracle.answer([Question.choice(0, (1,), ("b",))])
    assert oracle.by_kind == {"pair": 2, "label": 1, "choice": 1}
    assert oracle.n_answers == 4
    assert oracle.n_unsure == 1
