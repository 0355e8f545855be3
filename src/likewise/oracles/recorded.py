"""An oracle that repeats answers somebody gave before."""

from collections.abc import Iterable, Sequence

import numpy as np

from likewise.constraints.question import CANNOT_TELL, Answer, Question
from likewise.constraints.relation import Pairs
from likewise.errors import UnansweredError


class RecordedOracle:
    """Replay recorded answers; of what was never answered, nothing can be told.

    Parameters
    ----------
    answers : iterable of Answer
        In the order they were given: of two answers to one question the later holds.
    strict : bool
        Raise where a question was never answered, instead of saying "can't tell".

    Examples
    --------
    >>> oracle = RecordedOracle([Answer(Question.pair(0, 1), "same", who="Ann")])
    >>> [a.answer for a in oracle.answer([Question.pair(1, 0), Question.pair(0, 2)])]
    ['same', 'cannot_tell']
    """

    def __init__(self, answers: Iterable[Answer], *, strict: bool = False) -> None:
        self._answers = {answer.question: answer for answer in answers}
        self.strict = strict

    @property
    def pairs(self) -> Pairs:
        """The pairs that were answered, (m, 2): candidates worth asking about."""
        pairs = [question.images for question in self._answers if question.kind == "pair"]
        return np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return one answer for each question, in order, as it was recorded."""
        return [self._find(question) for question in questions]

    def _find(self, question: Question) -> Answer:
        if question in self._answers:
            return self._answers[question]
        if not self.strict:
            return Answer(question, CANNOT_TELL, who="recorded")
        images = ", ".join(str(image) for image in question.images)
        raise UnansweredError(
            f"The {question.kind} question about images {images} is not among the "
            f"{len(self._answers)} recorded answers; record it, or allow 'cannot tell' with "
            "strict=False."
        )
