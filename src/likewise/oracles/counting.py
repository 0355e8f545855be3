"""Count what somebody is asked: answers are the one thing that costs a person's time."""

from collections import Counter
from collections.abc import Sequence

from likewise.constraints.question import CANNOT_TELL, Answer, Question
from likewise.oracles.oracle import Oracle


class CountingOracle:
    """Pass questions on and keep count of the answers.

    Parameters
    ----------
    oracle : Oracle
        Who answers.

    Attributes
    ----------
    by_kind : Counter
        Answers to pairs, choices and labels; "can't tell" counts, for it took as long.
    n_unsure : int
        How many of them were "can't tell".
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.by_kind: Counter[str] = Counter()
        self.n_unsure = 0

    @property
    def n_answers(self) -> int:
        """How many answers there were in all."""
        return self.by_kind.total()

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return one answer for each question, in order."""
        answers = self.oracle.answer(questions)
        self.by_kind.update(answer.question.kind for answer in answers)
        self.n_unsure += sum(answer.answer == CANNOT_TELL for answer in answers)
        return answers
