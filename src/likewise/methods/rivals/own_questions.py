"""Rivals with a rule of their own for what to ask next, instead of a strategy."""

from abc import abstractmethod
from typing import ClassVar

from sklearn.utils.validation import check_is_fitted

from likewise.constraints.question import Question
from likewise.errors import PoolExhaustedError
from likewise.estimators.base import InteractiveClusterer


class OwnQuestions(InteractiveClusterer):
    """Asks what `_ask_what_is_left` says, or nothing where that is too little."""

    too_few: ClassVar[str]  # what a person reads then, with ``{n_open}``

    @abstractmethod
    def _ask_what_is_left(self, n: int) -> list[Question]:
        """Return at most `n` questions, the best first, and count them as asked."""

    def ask(self, n: int = 1) -> list[Question]:
        """Return the `n` questions that the method's own rule puts first.

        Raises
        ------
        PoolExhaustedError
            If fewer are open.
        """
        check_is_fitted(self, "constraints_")
        questions = self._ask_what_is_left(n)
        if len(questions) < n:
            self._asker.n_asked -= len(questions)
            left = self.too_few.format(n_open=len(questions))
            raise PoolExhaustedError(f"{n} questions were asked for but {left}")
        return questions
