"""An oracle that replays recorded answers."""

from collections.abc import Iterable, Sequence

import numpy as np

from likewise.constraints.question import CANNOT_TELL, Answer, Question
from likewise.errors import UnansweredError
from likewise.types import Pairs


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
