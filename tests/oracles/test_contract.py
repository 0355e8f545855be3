"""What every oracle owes: one class, a new oracle adds a line."""

from collections.abc import Callable

import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import CANNOT_TELL, Answer, Question
from likewise.oracles.base import CountingOracle, LabelOracle, NoisyOracle, Oracle, ReplayOracle
from likewise.oracles.terminal import TerminalOracle

LABELS = ["red", "blue", "red", "green", None, "blue"]
QUESTIONS = [
    Question.pair(0, 2),
    Question.pair(1, 0),
    Question.pair(3, 4),
    Question.choice(5, (0, 1), ("warm", "cold")),
    Question.choice(3, (0, 1), ("warm", "cold")),
    Question.grid((1, 2, 3), 0, "warm"),
    Question.label(1),
    Question.label(4),
]


def terminal() -> TerminalOracle:
    """Return a person who finds all pairs different, and can tell nothing else."""
    return TerminalOracle(
        "colour", read=lambda prompt: "d" if "s same" in prompt else " ", write=lambda _: None
    )


ORACLES: dict[str, Callable[[], Oracle]] = {
    "labels": lambda: LabelOracle(LABELS),
    "noisy": lambda: NoisyOracle(LABELS, flip=0.3, unsure=0.2, seed=3),
    "always wrong": lambda: NoisyOracle(LABELS, flip=1, unsure=0),
    "recorded": lambda: ReplayOracle(LabelOracle(LABELS).answer(QUESTIONS)),
    "nothing recorded": lambda: ReplayOracle([]),
    "counting": lambda: CountingOracle(LabelOracle(LABELS)),
    "terminal": terminal,
}


@pytest.mark.parametrize("make", ORACLES.values(), ids=ORACLES)
class TestEveryOracle:
    def test_gives_one_answer_a_question_in_order(self, make: Callable[[], Oracle]) -> None:
        answers = make().answer(QUESTIONS)
        assert [answer.question for answer in answers] == QUESTIONS
        assert all(isinstance(answer, Answer) for answer in answers)

    def test_answers_nothing_when_nothing_is_asked(self, make: Callable[[], Oracle]) -> None:
        assert make().answer([]) == []

    def test_the_answer_to_a_question_does_not_depend_on_other_questions(
        self, make: Callable[[], Oracle]
    ) -> None:
        together = [answer.answer for answer in make().answer(QUESTIONS)]
        oracle = make()
        backwards = [oracle.answer([question])[0].answer for question in reversed(QUESTIONS)]
        assert backwards[::-1] == together
        twice = [answer.answer for answer in oracle.answer(QUESTIONS * 2)]
        assert twice == together * 2

    def test_the_graph_accepts_every_answer(self, make: Callable[[], Oracle]) -> None:
        graph = ConstraintGraph(len(LABELS))
        for answer in make().answer(QUESTIONS):
            graph.tell(answer)
        assert len(graph.answers) == len(QUESTIONS)

    def test_an_image_without_a_label_is_answered_cannot_tell(
        self, make: Callable[[], Oracle]
    ) -> None:
        (answer,) = make().answer([Question.label(4)])
        assert answer.answer == CANNOT_TELL
