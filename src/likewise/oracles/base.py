"""The oracle protocol, an oracle of recorded answers, and one that counts its answers.

Only oracles and metrics have access to true labels.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from likewise.constraints.question import CANNOT_TELL, Answer, Question
from likewise.errors import UnansweredError
from likewise.types import Pairs


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


class ReplayOracle:
    """Replay recorded answers; other questions are answered "can't tell".

    Parameters
    ----------
    answers : iterable of Answer
        In log order: the last answer to a question counts.
    strict : bool
        Raise for a question without a recorded answer, instead of answering "can't tell".

    Examples
    --------
    >>> oracle = ReplayOracle([Answer(Question.pair(0, 1), "same", who="Ann")])
    >>> [a.answer for a in oracle.answer([Question.pair(1, 0), Question.pair(0, 2)])]
    ['same', 'cannot_tell']
    """

    def __init__(self, answers: Iterable[Answer], *, strict: bool = False) -> None:
        self._answers = {answer.question: answer for answer in answers}
        self.strict = strict

    @property
    def pairs(self) -> Pairs:
        """The answered pairs, shape (m, 2), for use as candidates."""
        pairs = [question.images for question in self._answers if question.kind == "pair"]
        return np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return the recorded answer for each question, in order."""
        return [self._find(question) for question in questions]

    def _find(self, question: Question) -> Answer:
        if question in self._answers:
            return self._answers[question]
        if not self.strict:
            return Answer(question, CANNOT_TELL, who="recorded")
        images = ", ".join(str(image) for image in question.images)
        raise UnansweredError(
            f"The {question.kind} question about images {images} is not among the "
            f"{len(self._answers)} recorded answers; record it, or set strict=False to answer "
            "'cannot tell'."
        )
