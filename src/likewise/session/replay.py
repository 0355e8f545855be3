"""Replay of the log: the active entries of a criterion, and the constraint graph they give."""

import contextlib
import gc
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from likewise.constraints.answers import AnswerColumns, Answers, LazyMap
from likewise.constraints.constraint import AnswerResult
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import RESERVED, Answer, Question
from likewise.constraints.serialization import answer_from_line
from likewise.errors import InvalidParameterError, LikewiseError, LikewiseWarning
from likewise.session.criteria import Criterion
from likewise.session.database import Database
from likewise.session.entry_columns import EntryColumns, read_columns
from likewise.session.groups import Groups
from likewise.session.images import Images
from likewise.session.log import CONFIRM, INVALID, RETRACT, Entry, read


class Entries:
    """The entries of one criterion, and which of them are active (not retracted).

    A retraction makes an entry inactive; retracting the retraction makes it
    active again. So undo is an addition to the log, and unlimited.

    Parameters
    ----------
    columns : EntryColumns, optional
        Entries that were read at once.
    ids : iterable of int
        Their ids, and those of entries in between, which must be added or excluded at once.

    Examples
    --------
    >>> entries = Entries()
    >>> _ = entries.add(Entry(1, 1, "pair", answer="same"))
    >>> entries.add(Entry(2, 1, "retract", retracts=1)).id, entries.is_active(1)
    (1, False)
    >>> entries.add(Entry(3, 1, "retract", retracts=2)).id, entries.is_active(1)
    (1, True)
    """

    def __init__(self, columns: EntryColumns | None = None, ids: Iterable[int] = ()) -> None:
        self.by_id: LazyMap[Entry] = LazyMap(columns.of_id if columns else _not_read, ids)
        self._changes: dict[int, Entry] = {}  # neither answers nor retractions
        self._retracting: defaultdict[int, set[int]] = defaultdict(set)  # active retractions of it
        self.last: int = 0
        self.invalid: dict[int, str] = {}  # entries that cannot be used, with the reason

    def add(self, entry: Entry) -> Entry:
        """Add the next entry; return the entry whose state it determines.

        That is the entry itself, or the one a chain of retractions ends at.
        """
        self.by_id[entry.id] = entry
        self.last = max(self.last, entry.id)
        if not entry.is_answer and entry.kind != RETRACT:
            self._changes[entry.id] = entry
        concerned = entry
        while concerned.retracts is not None:
            retracting = self._retracting[concerned.retracts]
            if self.is_active(concerned.id):
                retracting.add(concerned.id)
            else:
                retracting.discard(concerned.id)
            concerned = self.by_id[concerned.retracts]
        return concerned

    def exclude(self, number: int, reason: str) -> None:
        """Skip the next entry, which cannot be used."""
        self.invalid[number] = reason
        self.last = max(self.last, number)
        if number in self.by_id:
            del self.by_id[number]

    def is_active(self, number: int) -> bool:
        """Return whether an entry is not retracted by an active retraction."""
        return not self._retracting.get(number)

    def retracted_by(self, number: int) -> int | None:
        """Return the newest active retraction of an entry, None if it is active."""
        return max(self._retracting.get(number, ()), default=None)

    def of_action(self, number: int) -> list[Entry]:
        """Return the entries that were written together with an entry, in order."""
        first = self.by_id[number].action or number
        found = [self.by_id[first]] if first in self.by_id else []
        following = range(first + 1, self.last + 1)  # one transaction has consecutive ids
        for entry in map(self.by_id.get, following):
            if entry is not None and entry.action != first:
                break
            found += [] if entry is None else [entry]  # None: it cannot be used
        return found

    def active_of_action(self, number: int) -> list[Entry]:
        """Return the active entries that were written together with an entry.

        Raises
        ------
        InvalidParameterError
            If there is no such entry, or none of them is active.
        """
        if number not in self.by_id:
            raise InvalidParameterError(
                f"Entry {number} is not in the log of this criterion; reload the page."
            )
        active = [entry for entry in self.of_action(number) if self.is_active(entry.id)]
        if not active:
            raise InvalidParameterError(f"The action of entry {number} is already undone.")
        return active

    def retractions(self, numbers: Iterable[int]) -> list[tuple[str, dict[str, Any]]]:
        """Return new entries, as kind and fields, that retract active entries.

        Raises
        ------
        InvalidParameterError
            If there is no such entry, or it is already retracted.
        """
        return [(RETRACT, {"retracts": self._checked(n)}) for n in dict.fromkeys(numbers)]

    def _checked(self, number: int) -> int:
        if number not in self.by_id:
            raise InvalidParameterError(
                f"Entry {number} is not valid and has no effect, so it cannot be retracted."
            )
        by = self.retracted_by(number)
        if by is not None:
            raise InvalidParameterError(
                f"Entry {number} is already retracted by entry {by}; retract {by} to restore it."
            )
        return number

    def confirmation(self, number: int, hashes: list[str]) -> tuple[str, dict[str, Any]]:
        """Return a new entry, as kind and fields, that confirms an answer and its images."""
        groups = [self.by_id[number].answer] if number in self.by_id else []
        return CONFIRM, {"images": hashes, "answer": str(number), "groups": groups}

    def confirmed(self) -> dict[int, tuple[str, ...]]:
        """Return the confirmed answers, each with the images whose group was confirmed."""
        return {int(one.answer): one.images for one in self.changes() if one.kind == CONFIRM}

    def changes(self) -> Iterator[Entry]:
        """Yield the active entries that are neither answers nor retractions, in order."""
        yield from (one for one in self._changes.values() if self.is_active(one.id))

    def inactive(self) -> list[int]:
        """Return the ids of the retracted entries."""
        return [number for number, by in self._retracting.items() if by]

    def active(self, who: str | None = None) -> Iterator[Entry]:
        """Yield the active entries except retractions, in order, of one person or of all."""
        for entry in self.by_id.values():
            if entry.kind != RETRACT and self.is_active(entry.id) and who in (None, entry.who):
                yield entry

    def last_active(self, who: str | None = None) -> Entry | None:
        """Return the newest active entry except retractions, of one person or of all."""
        newest = (self.by_id[number] for number in reversed(self.by_id))
        matching = (entry for entry in newest if who in (None, entry.who))
        return next((e for e in matching if e.kind != RETRACT and self.is_active(e.id)), None)


def _not_read(number: int) -> Entry:
    raise KeyError(number)


class Replay:
    """The constraint graph of one criterion, kept up to date with the log.

    The graph always equals that of a fresh replay of the active entries: a new
    answer is added to it, a retraction is retracted from it, and an entry that
    restores an old answer or changes the meaning of others (a merge) causes a
    full replay. An answer has the same id in the graph as in the log.
    """

    def __init__(self, database: Database, images: Images, criterion: Criterion) -> None:
        self._database = database
        self._images = images
        self.criterion = criterion
        self.entries: Entries = Entries()
        self._columns: AnswerColumns = AnswerColumns.of([])  # the answers that were read at once
        self._answers: dict[int, Answer] = {}  # the other valid ones
        self.n_written: int = -1
        self._rebuild()

    def catch_up(self) -> None:
        """Read and apply the entries that were added to the log on disk."""
        if self.entries.last:
            self.apply(read(self._database, self.criterion.id, self.entries.last))
        else:
            self._read_all()

    def _read_all(self) -> None:
        """Read the log, which may contain a million answers, and replay it."""
        self.n_written = self._database.n_written
        columns, others = read_columns(self._database, self.criterion, self._images)
        ids = columns.answers.ids.tolist()
        ids = sorted([*ids, *(entry.id for entry in others)]) if others else ids
        self._columns, self.entries = columns.answers, Entries(columns, ids)
        for entry in others:
            reason = self._problem_of(entry)
            if reason:
                self.entries.exclude(entry.id, reason)
            else:
                self.entries.add(entry)
        self.entries.last = max(ids, default=0)
        self._rebuild()

    def apply(self, entries: Iterable[Entry]) -> list[AnswerResult]:
        """Apply the next entries of the log; return the results of the answers among them."""
        told: list[AnswerResult] = []
        self.n_written = self._database.n_written
        new: list[Entry] = []
        needs_rebuild = False
        for entry in entries:
            reason = self._problem_of(entry)
            if reason:
                self.entries.exclude(entry.id, reason)
                continue
            new.append(entry)
            concerned = self.entries.add(entry)
            if needs_rebuild:
                continue
            if entry.is_answer:
                told.append(self._tell(entry))
            else:
                needs_rebuild = not self._update(concerned)
        return self._rebuild(new) if needs_rebuild else told

    def _problem_of(self, entry: Entry) -> str:
        """Return why an entry of the log cannot be used; empty if it can."""
        if entry.kind == INVALID:
            return entry.answer
        if entry.retracts is not None and entry.retracts not in self.entries.by_id:
            return f"it retracts entry {entry.retracts}, which is not in the log of this criterion"
        if entry.is_answer:
            try:
                self._answers[entry.id] = self._to_answer(entry)
            except LikewiseError as error:
                return str(error)
        return ""

    def _to_answer(self, entry: Entry) -> Answer:
        """Return an entry as an answer about positions; a plain pair, which most are, faster."""
        name, positions = self.criterion.name, self._images.positions
        if entry.kind == "pair" and entry.group is None and not entry.ticked:
            found = [positions.get(content, -1) for content in entry.images]
            seconds = entry.seconds
            has_valid_time = seconds is None or 0 <= seconds < math.inf
            if len(found) == 2 and min(found) >= 0 and found[0] != found[1] and has_valid_time:
                pair = Question.pair(*found)
                return Answer(pair, entry.answer, entry.who, name, entry.at, seconds)
        return answer_from_line(entry.line(name), positions)

    def _update(self, concerned: Entry) -> bool:
        """Apply the new state of an old entry; return False if that needs a full replay."""
        if not concerned.is_answer:
            return concerned.kind != "merge"
        is_in_graph = concerned.id in self.graph.answers
        if is_in_graph and not self.entries.is_active(concerned.id):
            self.graph.retract(concerned.id)
            return True
        return is_in_graph == self.entries.is_active(concerned.id)

    def _rebuild(self, new: Sequence[Entry] = ()) -> list[AnswerResult]:
        """Replay all active entries into a new graph; return the results of the new answers."""
        self._groups = self.read_groups()
        before = new[0].id if new else math.inf
        self.graph: ConstraintGraph = ConstraintGraph(
            len(self._images),
            two_groups=self.criterion.two_groups,
            answers=self._active_answers(before),
        )
        active = (entry for entry in new if self.entries.is_active(entry.id))
        return [self._tell(entry) for entry in active if entry.is_answer]

    def _active_answers(self, before: float) -> Answers:
        """Return the active answers with an id below `before`, after the merges of groups."""
        columns, resolve = self._columns, self._groups.resolve
        merged = [
            code
            for code, shape in enumerate(columns.shapes)
            if any(resolve(key) != key for key in (*shape.groups, shape.answer))
        ]
        is_merged = np.isin(columns.codes, merged)
        others = {n: columns.of_id(n) for n in columns.ids[is_merged].tolist()} | self._answers
        ids = np.concatenate(
            [columns.ids, np.fromiter(self._answers, np.int64, len(self._answers))]
        )
        ids = np.sort(ids[(ids < before) & ~np.isin(ids, self.entries.inactive())])
        answers = Answers(columns.take(~is_merged) if merged else columns, ids.tolist())
        for number, answer in others.items():
            if number in answers:
                answers[number] = _after_merges(answer, resolve)
        return answers

    def _tell(self, entry: Entry) -> AnswerResult:
        return self.tell(self._answers[entry.id], entry.id)

    def tell(self, answer: Answer, number: int | None = None) -> AnswerResult:
        """Add an answer to the graph; one without a log entry only if the replay is a copy."""
        return self.graph.tell(_after_merges(answer, self._groups.resolve), answer_id=number)

    def read_groups(self) -> Groups:
        """Return the groups with all active renames, colours and merges applied."""
        rows = self._database.rows(
            "SELECT number, key, name, colour FROM made_group WHERE criterion = ? ORDER BY number",
            self.criterion.id,
        )
        return Groups(rows, self.entries.changes())


class Replays:
    """The replays of all criteria of an open session, each made when it is first used.

    Parameters
    ----------
    database : Database
    images : Images
    """

    def __init__(self, database: Database, images: Images) -> None:
        self._database, self._images = database, images
        self._by_criterion: dict[int, Replay] = {}

    def current(self, criterion: Criterion) -> Replay:
        """Return the state of a criterion, up to date with the disk."""
        if not self._database.write and not self._images.is_current():
            self.reload()  # the writer, another process, added images
        replay = self._by_criterion.get(criterion.id)
        if replay is None or replay.criterion != criterion:
            replay = self.copy(criterion)
            self._by_criterion[criterion.id] = replay
            _warn_about_invalid(replay)
        elif not self._database.write or replay.n_written != self._database.n_written:
            replay.catch_up()
        return replay

    def copy(self, criterion: Criterion) -> Replay:
        """Return a new replay of a criterion, independent of the current one."""
        replay = Replay(self._database, self._images, criterion)
        with _without_garbage_collection():
            replay.catch_up()
        return replay

    def reload(self) -> None:
        """Read the images again; graphs are rebuilt, since they have the old number of images."""
        self._images.load()
        self.clear()

    def clear(self) -> None:
        """Replay the logs again when they are next used."""
        self._by_criterion.clear()


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause garbage collection: with many new objects, it would take a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _after_merges(answer: Answer, resolve: Callable[[str], str]) -> Answer:
    """Return an answer with merged groups replaced by the group they were merged into.

    A shown group that was merged with the chosen one gives no cannot-link.
    """
    question, key = answer.question, answer.answer
    if question.kind == "label" and key not in RESERVED:
        return replace(answer, answer=resolve(key))
    if question.kind == "choice" and key in question.groups:
        chosen = resolve(key)
        kept = [
            (image, shown)
            for image, shown in zip(question.images[1:], question.groups, strict=True)
            if shown == key or resolve(shown) != chosen
        ]
        images, groups = zip(*kept, strict=True)
        return replace(answer, question=Question.choice(question.images[0], images, groups))
    return answer


def _warn_about_invalid(replay: Replay) -> None:
    """Warn about entries of the log that cannot be used."""
    invalid = list(replay.entries.invalid.items())
    if invalid:
        shown = "; ".join(f"entry {number}: {reason:.200}" for number, reason in invalid[:5])
        more = f"; and {len(invalid) - 5:,} more" if len(invalid) > 5 else ""
        warnings.warn(
            LikewiseWarning(
                f"{len(invalid):,} entries of the log of {replay.criterion.name!r} are not valid "
                f"and are left out ({shown}{more}). The other answers are not affected."
            ),
            stacklevel=5,
        )
