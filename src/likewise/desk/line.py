"""Questions waiting in line: the next one is there at once, and two people get different ones."""

import time
from collections.abc import Callable, Sequence

from likewise.constraints.question import Question
from likewise.desk.openness import Subject, subject

_SECONDS_HELD = 120.0  # after that a question nobody answered goes to somebody else
_N_PAST = 64  # answered questions that can be put again as they were thought of
_LOOK_AHEAD = 8  # how far a question may jump the line to mix yes and no

Check = Callable[[Question], Question | None]
Prefer = Callable[[Question], bool]


class QuestionLine:
    """Questions in the order of their worth, and who has which one in hand.

    Not locked: the caller is.

    Parameters
    ----------
    clock : callable
        Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: list[Question] = []
        # Questions as they were thought of: how they are put changes with every answer.
        self._held: dict[Subject, tuple[Question, str, float]] = {}
        self._past: dict[Subject, Question] = {}  # those that were answered last

    def __len__(self) -> int:
        return len(self._waiting)

    def fill(self, questions: Sequence[Question]) -> None:
        """Let fresh questions take the place of all that wait."""
        self._waiting = list(questions)

    def hand_out(
        self, n: int, who: str, check: Check, prefer: Prefer | None = None
    ) -> list[Question]:
        """Return at most `n` questions for one person; first those in hand, in the same order.

        Parameters
        ----------
        n : int
        who : str
        check : callable
            Returns a question as it should be put now, None if it is settled.
        prefer : callable, optional
            Says which questions would be a change from the last ones.
        """
        mine = self._in_hand(who, check)[:n]
        while len(mine) < n and self._waiting:
            thought_of = self._waiting.pop(self._next(prefer if not mine else None))
            question = check(thought_of)
            if question is None or self._is_taken(subject(question)):
                continue
            self._held[subject(question)] = (thought_of, who, self._clock())
            mine.append(question)
        return mine

    def done(self, question: Question) -> None:
        """Strike a question off: it was answered."""
        about = subject(question)
        thought_of, *_ = self._held.pop(about, (question,))
        self._past.pop(about, None)
        self._past[about] = thought_of
        if len(self._past) > _N_PAST:
            del self._past[next(iter(self._past))]

    def ask_again(self, question: Question, who: str) -> None:
        """Put a question whose answer was taken back first into a person's hands."""
        about = subject(question)
        self._held.pop(about, None)
        thought_of = self._past.pop(about, question)
        self._held = {about: (thought_of, who, self._clock()), **self._held}

    def forget(self) -> None:
        """Take everything out of people's hands."""
        self._held.clear()

    def _next(self, prefer: Prefer | None) -> int:
        if prefer is None:
            return 0
        ahead = self._waiting[:_LOOK_AHEAD]
        return next((place for place, one in enumerate(ahead) if prefer(one)), 0)

    def _in_hand(self, who: str, check: Check) -> list[Question]:
        """Return what a person has in hand that is still open, and drop the rest."""
        kept = []
        for about, (question, holder, since) in list(self._held.items()):
            if holder != who:
                continue
            now = check(question)
            del self._held[about]
            if now is not None and subject(now) not in self._held:
                self._held[subject(now)] = (question, who, since)
                kept.append(now)
        return kept

    def _is_taken(self, about: Subject) -> bool:
        if about not in self._held:
            return False
        return self._clock() - self._held[about][2] < _SECONDS_HELD
