"""One orientation at work: its questions in line, its answers, what the model made of them."""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likewise.constraints.facts import Told
from likewise.constraints.question import DIFFERENT, SAME, Answer, Question
from likewise.desk.agreement import Agreement
from likewise.desk.beginning import random_questions
from likewise.desk.conflicts import Conflict, conflicts
from likewise.desk.gallery import Gallery, make_gallery
from likewise.desk.line import Prefer, QuestionLine
from likewise.desk.moving import moves
from likewise.desk.openness import Subject, still_open, subject, subjects
from likewise.errors import SessionError
from likewise.methods.advice import Advice, advise
from likewise.methods.seeds_of_groups import seeds_of
from likewise.seeds import stream
from likewise.session.answers import Entry
from likewise.session.groups import Group
from likewise.session.orientations import Orientation
from likewise.session.results import Results, load_results
from likewise.session.session import Session

_RUN = 3  # equal answers in a row after which another kind is looked for
_SPARE = 8  # questions drawn at random when the model has none


@dataclass(frozen=True)
class Reply:
    """What became of an answer; `guessed` is whether the model had expected it."""

    told: Told
    guessed: bool | None
    conflict: Conflict | None


class Sorting:
    """One orientation; every method takes the session's lock.

    Parameters
    ----------
    session : Session
    name : str
        Of the orientation.
    """

    def __init__(self, session: Session, name: str) -> None:
        self._session, self.name = session, name
        self.line = QuestionLine()
        self.n_violations = 0
        self._rng = stream(0, "random questions", name)
        self._agreement = Agreement(session.model_folder(name))
        self._asked: set[Subject] | None = None
        self._bad: set[int] = set()
        self._recent: deque[str] = deque(maxlen=_RUN)
        self._gallery: tuple[object, Gallery] | None = None
        self.version = 0  # of the results; grows with every training
        self._results: Results | None = None
        self._make_groups(self.orientation.n_clusters or 0)
        self.refresh()

    @property
    def orientation(self) -> Orientation:
        """Return the orientation as it is on disk."""
        return self._session.orientation(self.name)

    @property
    def results(self) -> Results | None:
        """Return what the last training found."""
        return self._results

    # -- asking ---------------------------------------------------------------

    def questions(self, n: int, who: str = "") -> list[Question]:
        """Return at most `n` questions for one person; empty when nothing is left to ask."""
        with self._session.lock:
            found = self.line.hand_out(n, who, self._check, self._prefer())
            if len(found) < n:
                self.line.fill(self._spare_questions(max(n, _SPARE)))
                found = self.line.hand_out(n, who, self._check)
            return found

    def _spare_questions(self, n: int) -> list[Question]:
        return random_questions(self._session.images.askable, n, self._check, self._rng)

    def _check(self, question: Question) -> Question | None:
        graph = self._session.graph(self.name)
        if self._asked is None:
            self._asked = subjects(graph)
            self._bad = graph.bad_images
        now = still_open(question, graph, self._asked, self._bad)
        return now and self._worded(now)

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
            guessed = self._agreement.note(answer, self._results)
            self._taken_in(question)
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
        self._bad = self._session.graph(self.name).bad_images

    def _changed(self) -> None:
        self._asked = None
        self._recent.clear()

    def _repeated(self, answer: Answer) -> int | None:
        """Return the number of the last answer of this person if it is this very one."""
        graph = self._session.graph(self.name)
        for number, old in reversed(list(graph.answers.items())):
            if old.who == answer.who:
                is_equal = (old.question, old.answer) == (answer.question, answer.answer)
                return number if is_equal else None
        return None

    # -- seeing ---------------------------------------------------------------

    def gallery(self) -> Gallery:
        """Return the groups as they are now.

        Raises
        ------
        SessionError
            If nothing was trained yet.
        """
        with self._session.lock:
            if self._results is None:
                raise SessionError(
                    f"There are no groups by {self.name!r} yet; the first ones come in a moment."
                )
            moment = self.version, self._last_entry()
            if self._gallery is None or self._gallery[0] != moment:
                found = make_gallery(self._session, self.name, self._results)
                self._gallery = moment, found
            return self._gallery[1]

    def _last_entry(self) -> int:
        entries = self._session.entries(self.name)
        return entries[-1][0].id if entries else 0

    def conflicts(self) -> list[Conflict]:
        """Return the contradictions that wait to be settled."""
        return conflicts(self._session, self.name)

    def tied_to(self, image: int) -> list[int]:
        """Return the images that answers say are the same as this one."""
        with self._session.lock:
            groups = self._session.graph(self.name).groups()
        return [i for i in np.flatnonzero(groups == groups[image]).tolist() if i != image]

    def change_group(self, key: str, **changes: Any) -> Group:
        """Rename, colour or merge a group; see `Session.change_group`."""
        with self._session.lock:
            changed = self._session.change_group(self.name, key, **changes)
            self._changed()
            return changed

    def _conflict(self, number: int) -> Conflict | None:
        return next((one for one in self.conflicts() if one.entry.id == number), None)

    def tally(self) -> dict[str, int]:
        """Return how many answers of each kind stand."""
        said: Counter[str] = Counter()
        for entry in self._session.answers(self.name):
            said[entry.answer if entry.group is None else "placed"] += 1
        words = ("same", "different", "cannot_tell", "bad_image", "placed", "none", "new")
        return {word: said[word] for word in words}

    def advice(self) -> Advice | None:
        """Return how well the model understood, None before it learned from anybody."""
        if self._results is None or not self._results.n_answers:
            return None
        with self._session.lock:
            graph = self._session.graph(self.name)
            n_settled = int((seeds_of(graph, self.orientation.n_clusters).classes >= 0).sum())
        return advise(self._agreement.guesses, self._results.probabilities, n_settled)

    # -- the trainer's news -----------------------------------------------------

    def refresh(self) -> None:
        """Read what the last training found, and make the groups it speaks of."""
        results = load_results(self._session, self.name)
        if results is not None and results.keys:
            self._make_groups(len(results.keys))
            self._results = results
            self.version += 1
        self._agreement.keep()

    def _make_groups(self, n: int) -> None:
        with self._session.lock:
            made = self._session.groups(self.name).all()
            for number in range(len(made) + 1, n + 1):
                self._session.make_group(self.name, name=f"group {number}")
