"""The oracle protocol, and a wrapper that counts answers.

Only oracles and metrics have access to true labels.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from likewise.constraints.question import CANNOT_TELL, Answer, Question


class Oracle(Protocol):
    """Anything that answers questions immediately."""

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return an answer for each question, in order."""


class CountingOracle:
    """Forward questions to another oracle and count the answers.

    Parameters
    ----------
    oracle : Oracle

    Attributes
    ----------
    by_kind : Counter
        Number of answers to pairs, choices and labels, including "can't tell", which takes a
        person's time as well.
    n_unsure : int
        Number of "can't tell" answers.
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.by_kind: Counter[str] = Counter()
        self.n_unsure = 0

    @property
    def n_answers(self) -> int:
        """Total number of answers."""
        return self.by_kind.total()

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return an answer for each question, in order."""
        answers = self.oracle.answer(questions)
        self.by_kind.update(answer.question.kind for answer in answers)
        self.n_unsure += sum(answer.answer == CANNOT_TELL for answer in answers)
        return answers
