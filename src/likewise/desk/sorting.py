"""One orientation at work: its questions in line, and its answers."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from likewise.constraints.facts import Told
from likewise.constraints.question import DIFFERENT, SAME, Answer, Question
from likewise.desk.beginning import random_questions
from likewise.desk.conflicts import Conflict
from likewise.desk.findings import Findings
from likewise.desk.line import Check, Prefer, QuestionLine
from likewise.desk.moving import moves
from likewise.desk.openness import Subject, still_open, subject, subjects
from likewise.seeds import stream
from likewise.session.answers import Entry
from likewise.session.groups import Group
from likewise.session.session import Session

_RUN = 3  # equal answers in a row after which another kind is looked for
_SPARE = 8  # questions drawn at random when the model has none


@dataclass(frozen=True)
class Reply:
    """What became of an answer; `guessed` is whether the model had expected it."""

    told: Told
    guessed: bool | None
    conflict: Conflict | None


class Sorting(Findings):
    """One orientation at work; every method takes the session's lock.

    Parameters
    ----------
    session : Session
    name : str
        Of the orientation.
    """

    def __init__(self, session: Session, name: str) -> None:
        super().__init__(session, name)
        self.line = QuestionLine()
        self._rng = stream(0, "random questions", name)
        self._asked: set[Subject] | None = None
        self._latest: dict[str, tuple[int, Answer]] | None = None  # of each person
        self._recent: deque[str] = deque(maxlen=_RUN)

    # -- asking ---------------------------------------------------------------

    def questions(self, n: int, who: str = "") -> list[Question]:
        """Return at most `n` questions for one person; empty when nothing is left to ask."""
        with self._session.lock:
            check = self._checker()
            found = self.line.hand_out(n, who, check, self._prefer())
            if len(found) < n:
                askable = self._session.images.askable
                self.line.fill(random_questions(askable, max(n, _SPARE), check, self._rng))
                found = self.line.hand_out(n, who, check)
            return found

    def _checker(self) -> Check:
        """Return what says how a question should be put now, None if it is settled."""
        graph = self._session.graph(self.name)
        asked = self._asked = subjects(graph) if self._asked is None else self._asked
        bad = graph.bad_images

        def check(question: Question) -> Question | None:
            now = still_open(question, graph, asked, bad)
            return now and self._worded(now)

        return check

    def _worded(self, question: Question) -> Question:
        """Return a choice with its groups called as they are now, wherever that is clear."""
        results = self._results
        if question.kind != "choice" or results is None:
            return question
        labels = results.labels[list(question.images[1:])].tolist()
        if min(labels) < 0 or len(set(labels)) < len(labels):
            return question
        return replace(question, groups=tuple(results.keys[label] for label in labels))

    def _prefer(self) -> Prefer | None:
        """Return what would be a change after several equal answers, None if there is no need."""
        if len(self._recent) < _RUN or len(set(self._recent)) > 1 or self._results is None:
            return None
        wanted, chances = (
            DIFFERENT if self._recent[0] == SAME else SAME,
            self._results.probabilities,
        )

        def is_a_change(question: Question) -> bool:
            if question.kind != "pair":
                return True
            first, second = chances[list(question.images)].argmax(axis=1)
            return (SAME if first == second else DIFFERENT) == wanted

        return is_a_change

    # -- answering ------------------------------------------------------------

    def answer(
        self, question: Question, word: str, who: str = "", seconds: float | None = None
    ) -> Reply:
        """Take in one answer, to disk before this returns.

        The same answer of the same person sent twice in a row (by a page that did not hear our
        reply) is one answer.
        """
        answer = Answer(question, word, who=who, orientation=self.name, seconds=seconds)
        with self._session.lock:
            repeated = self._repeated(answer)
            if repeated is not None:
                return Reply(Told(repeated, taken=True), None, None)
            told = self._session.tell(answer)
            guessed = self._agreement.note(answer, self._results) if told.taken else None
            self._taken_in(question)
            if self._latest is not None:
                self._latest[who] = told.id, answer
            if question.kind == "pair" and word in (SAME, DIFFERENT):
                self._recent.append(word)
            conflict = None if told.taken else self._conflict(told.id)
        return Reply(told, guessed, conflict)

    def move(self, images: Sequence[int], key: str, who: str = "") -> list[Told]:
        """Put pictures into a group; each is an answer of its own."""
        with self._session.lock:
            said = moves(images, key, self.gallery(), self._session.graph(self.name))
            answers = [Answer(q, word, who=who, orientation=self.name) for q, word in said]
            told = self._session.tell_all(answers)
            for question, _ in said:
                self._taken_in(question)
            self._latest = None
            return told

    def undo(self, who: str | None = None) -> Entry | None:
        """Take back the newest thing a person said; None if there is nothing."""
        with self._session.lock:
            entry = self._session.undo(self.name, who)
            self._changed()
            return entry

    def take_back(self, number: int, who: str = "") -> Entry:
        """Take back any entry of the log."""
        with self._session.lock:
            entry = self._session.take_back(number, who)
            self._changed()
            return entry

    def _taken_in(self, question: Question) -> None:
        self.line.done(question)
        if self._asked is not None:
            self._asked.add(subject(question))

    def _changed(self) -> None:
        """Forget all that was looked up: what stood before may have fallen."""
        self._asked = self._ties = self._groups = self._latest = None
        self._recent.clear()

    def _repeated(self, answer: Answer) -> int | None:
        """Return the number of the last answer of this person if it is this very one."""
        if self._latest is None:
            standing = self._session.graph(self.name).answers
            self._latest = {old.who: (number, old) for number, old in standing.items()}
        number, last = self._latest.get(answer.who, (0, None))
        if last is None or (last.question, last.answer) != (answer.question, answer.answer):
            return None
        return number

    def change_group(self, key: str, **changes: Any) -> Group:
        """Rename, colour or merge a group; see `Session.change_group`."""
        with self._session.lock:
            changed = self._session.change_group(self.name, key, **changes)
            self._changed()
            return changed

    def _conflict(self, number: int) -> Conflict | None:
        return next((one for one in self.conflicts() if one.entry.id == number), None)
