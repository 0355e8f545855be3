"""One orientation at work: its questions in line, and its answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from likewise.constraints.constraint import AnswerResult
from likewise.constraints.question import DIFFERENT, NEW, NONE, SAME, Answer, Question
from likewise.desk.conflicts import Conflict
from likewise.desk.findings import kind_of
from likewise.desk.gallery import Gallery
from likewise.desk.inquiry import Inquiry
from likewise.desk.moving import moves, splits
from likewise.desk.openness import subject
from likewise.desk.splitting import SplitOff
from likewise.desk.together import Together
from likewise.errors import InvalidParameterError
from likewise.session.groups import Group
from likewise.session.log import Entry
from likewise.session.session import Session

More = tuple[int, str]  # how many questions are wanted next, and for whom


@dataclass(frozen=True)
class Reply:
    """What became of an answer; `guessed` is whether the model had expected it.

    `questions` are the next ones, if they were asked for.
    """

    told: AnswerResult
    guessed: bool | None
    conflict: Conflict | None
    questions: list[Question] = field(default_factory=list)


class Sorting(Inquiry):
    """One orientation at work; every method takes the session's lock.

    Parameters
    ----------
    session : Session
    name : str
        Of the orientation.
    """

    def __init__(self, session: Session, name: str) -> None:
        self._together = Together(self._take_in)
        self._split_off = SplitOff(session.model_folder(name))
        super().__init__(session, name)

    def answer(
        self,
        question: Question,
        word: str,
        who: str = "",
        seconds: float | None = None,
        more: More = (0, ""),
    ) -> Reply:
        """Take in one answer, to disk before this returns.

        The same answer of the same person sent twice in a row (by a page that did not hear our
        reply) is one answer. Answers of several people at a time share one sync of the disk.
        """
        answer = Answer(question, word, who=who, criterion=self.name, seconds=seconds)
        return self._together((answer, more))

    def _take_in(self, given: list[tuple[Answer, More]]) -> list[Reply]:
        with self._session.lock:
            fresh = self._fresh([answer for answer, _ in given])
            told = dict(zip(fresh, self._session.tell_all(fresh.values()), strict=True))
            return [
                self._reply(answer, told.get(i), more) for i, (answer, more) in enumerate(given)
            ]

    def _fresh(self, answers: Sequence[Answer]) -> dict[int, Answer]:
        """Return the answers by place that do not just repeat the last one of their giver."""
        latest, fresh = {who: last for who, (_, last) in self._last_said().items()}, {}
        for place, answer in enumerate(answers):
            if not _is_same(answer, latest.get(answer.who)):
                latest[answer.who] = fresh[place] = answer
        return fresh

    def _reply(self, answer: Answer, told: AnswerResult | None, more: More) -> Reply:
        """Return what is said to one answer, which was written if `told` is given."""
        if told is None:
            number, _ = self._last_said()[answer.who]
            return Reply(AnswerResult(number, accepted=True), None, None, self._next(more))
        guessed = self._agreement.note(answer, self._results) if told.accepted else None
        self._taken_in(answer, told)
        self._last_said()[answer.who] = told.id, answer
        if answer.question.kind == "pair" and answer.answer in (SAME, DIFFERENT):
            self._recent.append(answer.answer)
        conflict = None if told.accepted else self._conflict(told.id)
        return Reply(told, guessed, conflict, self._next(more))

    def _next(self, more: More) -> list[Question]:
        n, holder = more
        return self.questions(n, holder) if n else []

    def move(self, images: Sequence[int], key: str, who: str = "") -> list[AnswerResult]:
        """Put pictures into a group; each is an answer of its own."""
        gallery = self.gallery()
        with self._session.lock:
            said = moves(images, key, gallery, self._session.graph(self.name))
            return self._tell(said, who)

    def split(
        self, images: Sequence[int], name: str = "", who: str = ""
    ) -> tuple[str, list[AnswerResult]]:
        """Make a new group of pictures; each is an answer. Returns its key.

        Where the number of groups was given, it is one more from now on.
        """
        gallery = self.gallery()
        _check_split(images, gallery)
        with self._session.lock:
            was_two = self.orientation.two_groups
            self._one_group_more(len(gallery.groups))
            key = self._free_key(name)
            self._split_off.note(key, was_two=was_two)
            said = splits(images, key, gallery, self._session.graph(self.name))
            told = self._tell(said, who)
            self._forget()
            self._add_column(key)
        return key, told

    def _tell(self, said: Sequence[tuple[Question, str]], who: str) -> list[AnswerResult]:
        answers = [Answer(q, word, who=who, criterion=self.name) for q, word in said]
        told = self._session.tell_all(answers)
        for answer, one in zip(answers, told, strict=True):
            self._taken_in(answer, one)
        self._latest = None
        return told

    def _one_group_more(self, n_shown: int) -> None:
        known = self.orientation
        if known.n_clusters is not None:
            n = max(known.n_clusters, n_shown) + 1
            self._session.change_criterion(replace(known, n_clusters=n, two_groups=False))

    def _free_key(self, name: str) -> str:
        """Return the key of a group that no column stands for yet."""
        taken = self._results.keys if self._results is not None else ()
        made = self._session.groups(self.name).shown()
        free = next((group.key for group in made if group.key not in taken), None)
        if free is None:
            title = name or f"group {len(self._session.groups(self.name).all()) + 1}"
            return self._session.make_group(self.name, name=title).key
        if name:
            self._session.change_group(self.name, free, name=name)
        return free

    def undo(self, who: str | None = None) -> Entry | None:
        """Take back the newest thing a person said; None if there is nothing."""
        with self._session.lock:
            entry = self._session.undo(self.name, who)
            self._forget()
            self._unsplit()
            return entry

    def retract(self, number: int, who: str = "") -> Entry:
        """Take back any entry of the log."""
        with self._session.lock:
            entry = self._session.retract(number, who)
            self._forget()
            self._unsplit()
            return entry

    def confirm(self, number: int, who: str = "") -> None:
        """Note that a doubtful answer was meant as it is; undo takes that back too."""
        with self._session.lock:
            answer = self._session.graph(self.name).answers.get(number)
            if answer is None:
                raise InvalidParameterError(
                    f"Answer {number} by {self.name!r} does not stand, so nobody can stand by it; "
                    "it may have been taken back meanwhile. Look at the list of answers."
                )
            if number not in self._session.confirmed(self.name):
                images = self.suspicion.confirmed_by(number, answer.question)
                self._session.confirm(self.name, number, images, who)

    def _unsplit(self) -> None:
        """Undo the splits of which nothing is left: as many groups as before are wanted then.

        Groups have their places in the order they were made, so the newest goes first.
        """
        said = {entry.answer for entry in self._session.answers(self.name)}
        made = [group.key for group in self._session.groups(self.name).all()]
        while self._split_off.made and [*self._split_off.made][-1] == made[-1] not in said:
            (key, was_two), known = self._split_off.undo(), self.orientation
            made.pop()
            if known.n_clusters is not None and known.n_clusters > len(made):
                fewer = replace(known, n_clusters=len(made), two_groups=was_two)
                self._session.change_criterion(fewer)
            self._drop_column(key)

    def _taken_in(self, answer: Answer, told: AnswerResult) -> None:
        """Bring what was looked up before to where it is now."""
        question = answer.question
        self.line.done(question)
        if question.kind == "choice" and answer.answer in (NONE, NEW) and told.accepted:
            self._founders.append(question.images[0])
        if self._asked is not None:
            self._asked.add(subject(question))
        if self._tally is not None:
            self._tally[kind_of(answer.answer)] += 1
        if not told.accepted:
            self._conflicts = None

    def _last_said(self) -> dict[str, tuple[int, Answer]]:
        """Return the last answer of each person that stands, with its number."""
        if self._latest is None:
            standing = self._session.graph(self.name).answers
            self._latest = {old.who: (number, old) for number, old in standing.items()}
        return self._latest

    def change_group(self, key: str, **changes: Any) -> Group:
        """Rename, colour or merge a group; see `Session.change_group`."""
        with self._session.lock:
            changed = self._session.change_group(self.name, key, **changes)
            self._forget()
            return changed

    def _conflict(self, number: int) -> Conflict | None:
        return next((one for one in self.conflicts() if one.entry.id == number), None)


def _is_same(answer: Answer, other: Answer | None) -> bool:
    """Return whether two answers say the same to the same question."""
    if other is None:
        return False
    return (answer.question, answer.answer) == (other.question, other.answer)


def _check_split(images: Sequence[int], gallery: Gallery) -> None:
    outside = [i for i in images if not 0 <= i < len(gallery.group_of)]
    if outside:
        raise InvalidParameterError(f"Picture {outside[0]} is not in this session.")
    if len(set(images)) >= int((gallery.group_of >= 0).sum()):
        raise InvalidParameterError(
            "All pictures were chosen, so nothing would be left to split them from; choose fewer."
        )
