"""The one thing an oracle does: answer questions. Only oracles and metrics see true labels."""

from collections.abc import Sequence
from typing import Protocol

from likewise.constraints.question import Answer, Question


class Oracle(Protocol):
    """Anything that answers at once; a person answers through page or terminal."""

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return one answer for each question, in order."""
