import pytest

from likewise.constraints.question import Answer, Question
from likewise.errors import UnansweredError
from likewise.oracles.base import CountingOracle, LabelOracle, ReplayOracle


def test_answers_are_counted_by_kind_and_the_unsure_ones_too() -> None:
    oracle = CountingOracle(LabelOracle(["a", "b", None]))
    assert oracle.n_answers == 0
    oracle.answer([Question.pair(0, 1), Question.pair(0, 2), Question.label(1)])
    oracle.answer([Question.choice(0, (1,), ("b",))])
    assert oracle.by_kind == {"pair": 2, "label": 1, "choice": 1}
    assert oracle.n_answers == 4
    assert oracle.n_unsure == 1


def test_a_recorded_answer_is_returned_unchanged() -> None:
    given = Answer(Question.pair(4, 2), "same", "Ann", "season", "2026-01-01T00:00:00Z", 1.5)
    assert ReplayOracle([given]).answer([Question.pair(2, 4)]) == [given]


def test_the_later_of_two_answers_is_used() -> None:
    question = Question.label(3)
    oracle = ReplayOracle([Answer(question, "red"), Answer(question, "blue")])
    assert oracle.answer([question])[0].answer == "blue"


def test_kinds_are_kept_apart() -> None:
    choice = Question.choice(0, (1,), ("a",))
    oracle = ReplayOracle([Answer(choice, "a"), Answer(Question.label(0), "x")])
    heard = oracle.answer([choice, Question.label(0), Question.pair(0, 1)])
    assert [answer.answer for answer in heard] == ["a", "x", "cannot_tell"]


def test_strict_raises_for_what_was_never_answered() -> None:
    oracle = ReplayOracle([Answer(Question.pair(0, 1), "same")], strict=True)
    assert oracle.answer([Question.pair(0, 1)])[0].answer == "same"
    with pytest.raises(
        UnansweredError,
        match="The pair question about images 0, 2 is not among the 1 recorded answers; record it",
    ):
        oracle.answer([Question.pair(2, 0)])


def test_the_recorded_pairs_can_serve_as_candidates() -> None:
    answers = [Answer(Question.pair(5, 1), "same"), Answer(Question.label(2), "x")]
    answers += [Answer(Question.pair(0, 3), "cannot_tell"), answers[0]]
    assert ReplayOracle(answers).pairs.tolist() == [[0, 3], [1, 5]]
    assert ReplayOracle([]).pairs.shape == (0, 2)
