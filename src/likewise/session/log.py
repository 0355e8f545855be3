"""The answer log: an append-only table from which the state of a criterion is replayed."""

import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from likewise.constraints.constraint import AnswerResult
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import RESERVED, Answer, Question
from likewise.constraints.serialization import answer_from_line, answer_to_line
from likewise.errors import InvalidParameterError, LikewiseError
from likewise.session.criteria import Criterion, check_printable, check_text
from likewise.session.database import Database
from likewise.session.groups import Groups, check_change, create_group
from likewise.session.images import Images

ANSWERS = frozenset({"pair", "choice", "label"})
GROUP_CHANGES = frozenset({"rename", "colour", "merge"})
RETRACT = "retract"
INVALID = "invalid"  # a row that cannot be used; never written
CONFIRM = "confirm"  # a label issue was reviewed and the answer is right

_COLUMNS = 'id, criterion, kind, images, answer, "group", groups, retracts, who, at, seconds'


@dataclass(frozen=True)
class Entry:
    """One row of the log: an answer, a change of a group, a confirmation, or a retraction.

    Parameters
    ----------
    id : int
        Increasing; never reused.
    criterion : int
        Id of the criterion.
    kind : {"pair", "choice", "label", "rename", "colour", "merge", "confirm", "retract"}
    images : tuple of str
        Content hashes.
    answer : str
        The answer; the new name or colour of a group; the id of the confirmed answer.
    group : str, optional
        The key of the group that was chosen or changed.
    groups : tuple of str
        The keys shown with a choice; the key a group was merged into; the confirmed answer.
    retracts : int, optional
        The entry that is retracted.
    who, at : str
    seconds : float, optional
    """

    id: int
    criterion: int
    kind: str
    images: tuple[str, ...] = ()
    answer: str = ""
    group: str | None = None
    groups: tuple[str, ...] = ()
    retracts: int | None = None
    who: str = ""
    at: str = ""
    seconds: float | None = None

    @property
    def is_answer(self) -> bool:
        """Return whether this answers a question."""
        return self.kind in ANSWERS

    def line(self, criterion: str) -> dict[str, Any]:
        """Return the entry as one object of a JSON Lines file."""
        shown = {"groups": list(self.groups)} if self.kind == "choice" else {}
        return {
            "kind": self.kind,
            "images": list(self.images),
            "answer": self.answer,
            "group": self.group,
            **shown,
            "criterion": criterion,
            "who": self.who,
            "at": self.at,
            "seconds": self.seconds,
        }


def append(db: sqlite3.Connection, criterion: int, kind: str, **fields: Any) -> Entry:
    """Add one entry inside the caller's transaction and return it.

    `at` defaults to the current time. Lists are stored as JSON.
    """
    values = {"at": now(), **fields}
    for name in ("images", "groups"):
        if name in values:
            values[name] = tuple(values[name])
    entry = Entry(0, criterion, kind, **values)
    row = {"who": "", **values, "criterion": criterion, "kind": kind}
    cells = [_to_json(v) if isinstance(v, tuple) else v for v in row.values()]
    names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
    cursor = db.execute(f"INSERT INTO log ({names}) VALUES ({marks})", cells)
    assert cursor.lastrowid is not None  # an INSERT into a table with a rowid
    return replace(entry, id=cursor.lastrowid)


def read(database: Database, criterion: int, after: int = 0) -> list[Entry]:
    """Return the entries of one criterion with an id greater than `after`, in order."""
    rows = database.rows(
        f"SELECT {_COLUMNS} FROM log WHERE criterion = ? AND id > ? ORDER BY id", criterion, after
    )
    return [_to_entry_or_invalid(row) for row in rows]


def find(database: Database, number: int) -> Entry | None:
    """Return the entry with this id, of any criterion."""
    rows = database.rows(f"SELECT {_COLUMNS} FROM log WHERE id = ?", number)
    return _to_entry_or_invalid(rows[0]) if rows else None


def now() -> str:
    """Return the current time as ISO 8601, UTC, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _to_entry(row: tuple[Any, ...]) -> Entry:
    number, criterion, kind, images, answer, group, groups, retracts, who, at, seconds = row
    return Entry(
        number,
        criterion,
        kind,
        images=_from_json(images),
        answer=answer or "",
        group=group,
        groups=_from_json(groups),
        retracts=retracts,
        who=who,
        at=at,
        seconds=seconds,
    )


def _to_entry_or_invalid(row: tuple[Any, ...]) -> Entry:
    """Return a row as an entry; one that is not valid gets the kind `INVALID` and the reason."""
    try:
        entry = _to_entry(row)
        _check_entry(entry)
    except (ValueError, TypeError, RecursionError, LikewiseError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        return Entry(row[0], row[1], INVALID, answer=reason)
    return entry


def _check_entry(entry: Entry) -> None:
    """Raise ValueError if an entry cannot have been written by this package."""
    texts = (entry.kind, entry.answer, entry.group or "", entry.who, entry.at)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a text is not text")
    if entry.kind not in ANSWERS | GROUP_CHANGES | {RETRACT, CONFIRM}:
        raise ValueError(f"unknown kind {entry.kind!r:.30}")
    if (entry.kind == RETRACT) != (entry.retracts is not None):
        raise ValueError("only a retraction refers to another entry")
    if entry.retracts is not None and not entry.retracts < entry.id:
        raise ValueError(f"it retracts entry {entry.retracts}, which is not an earlier one")
    if entry.kind == "merge" and len(entry.groups) != 1:
        raise ValueError("a merge needs one other group")
    if entry.kind == "colour":
        check_change(name=None, colour=entry.answer)
    if entry.kind == CONFIRM:
        int(entry.answer)


def _to_json(values: tuple[str, ...]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _from_json(text: str | None) -> tuple[str, ...]:
    values = json.loads(text) if text else []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("a list is not a JSON list of strings")
    return tuple(values)


def checked_line(images: Images, answer: Answer) -> dict[str, Any]:
    """Return an answer as a line of the log; raise if the log cannot store it."""
    for image in answer.question.images:
        if not 0 <= image < len(images):
            raise InvalidParameterError(
                f"Image {image} is not in this session; images are numbered 0 to {len(images) - 1}."
            )
    _check_distinct(images, answer)
    for what, text in [("answer", answer.answer), ("who", answer.who), ("at", answer.at)]:
        check_text(what, text)
    check_printable("a person", answer.who)
    if answer.question.kind == "label":
        check_printable("a group", answer.answer)
    for key in answer.question.groups:
        check_text("group", key)
    if answer.seconds is not None and not math.isfinite(answer.seconds):
        raise InvalidParameterError(
            f"seconds must be a finite number or None, got {answer.seconds}."
        )
    line = answer_to_line(answer, images.hashes)
    answer_from_line(line, images.positions)  # it must be readable at the next start
    return line


def _check_distinct(images: Images, answer: Answer) -> None:
    """Raise if a question contains two copies of one file."""
    seen: dict[int, int] = {}
    for image in answer.question.images:
        first = int(images.first[image])
        if first in seen:
            raise InvalidParameterError(
                f"Images {seen[first]} and {image} are copies of one file; ask about two "
                "different images."
            )
        seen[first] = image


def stamped(answer: Answer) -> Answer:
    """Return an answer with the current time, unless it has one."""
    return answer if answer.at else replace(answer, at=now())


def append_answer(db: sqlite3.Connection, criterion: int, line: dict[str, Any]) -> Entry:
    """Write an answer, and the group that a label names if it does not exist yet."""
    fields = {name: value for name, value in line.items() if name not in ("kind", "criterion")}
    entry = append(db, criterion, line["kind"], **fields)
    if entry.kind == "label" and entry.answer not in RESERVED:
        create_group(db, criterion, key=entry.answer)
    return entry


class Entries:
    """The entries of one criterion, and which of them are active (not retracted).

    A retraction makes an entry inactive; retracting the retraction makes it
    active again. So undo is an addition to the log, and unlimited.

    Examples
    --------
    >>> entries = Entries()
    >>> _ = entries.add(Entry(1, 1, "pair", answer="same"))
    >>> entries.add(Entry(2, 1, "retract", retracts=1)).id, entries.is_active(1)
    (1, False)
    >>> entries.add(Entry(3, 1, "retract", retracts=2)).id, entries.is_active(1)
    (1, True)
    """

    def __init__(self) -> None:
        self.by_id: dict[int, Entry] = {}
        self._retracting: defaultdict[int, set[int]] = defaultdict(set)  # active retractions of it
        self.last = 0  # id of the newest entry
        self.invalid: dict[int, str] = {}  # entries that cannot be used, with the reason

    def add(self, entry: Entry) -> Entry:
        """Add the next entry; return the entry whose state it determines.

        That is the entry itself, or the one a chain of retractions ends at.
        """
        self.by_id[entry.id] = entry
        self.last = entry.id
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
        """Leave out the next entry, which cannot be used."""
        self.invalid[number] = reason
        self.last = number

    def is_active(self, number: int) -> bool:
        """Return whether an entry is not retracted by an active retraction."""
        return not self._retracting.get(number)

    def retracted_by(self, number: int) -> int | None:
        """Return the newest active retraction of an entry, None if it is active."""
        return max(self._retracting.get(number, ()), default=None)

    def active(self, who: str | None = None) -> Iterator[Entry]:
        """Yield the active entries except retractions, in order, of one person or of all."""
        for entry in self.by_id.values():
            if entry.kind != RETRACT and self.is_active(entry.id) and who in (None, entry.who):
                yield entry

    def last_active(self, who: str | None = None) -> Entry | None:
        """Return the newest active entry except retractions, of one person or of all."""
        matching = (e for e in reversed(self.by_id.values()) if who in (None, e.who))
        return next((e for e in matching if e.kind != RETRACT and self.is_active(e.id)), None)


class Replay:
    """The constraint graph of one criterion, kept up to date with the log.

    The graph always equals that of a fresh replay of the active entries: a new
    answer is added to it, a retraction is retracted from it, and an entry that
    restores an old answer or changes the meaning of others (a merge) causes a
    full replay. An answer has the same id in the graph as in the log.
    """

    def __init__(self, database: Database, images: Images, criterion: Criterion) -> None:
        self._database, self._images, self.criterion = database, images, criterion
        self.entries = Entries()
        self._answers: dict[int, Answer] = {}  # of the valid entries
        self.n_written = -1  # value of `Database.n_written` at the last update
        self._rebuild()

    def catch_up(self) -> None:
        """Read and apply the entries that were added to the log on disk."""
        self.apply(read(self._database, self.criterion.id, self.entries.last))

    def apply(self, entries: Iterable[Entry]) -> list[AnswerResult]:
        """Apply the next entries of the log; return the results of the answers among them."""
        told: list[AnswerResult] = []
        self.n_written = self._database.n_written
        needs_rebuild = self.entries.last == 0  # one replay is cheaper than many retractions
        has_new = False
        for entry in entries:
            reason = self._problem_of(entry)
            if reason:
                self.entries.exclude(entry.id, reason)
                continue
            has_new = True
            concerned = self.entries.add(entry)
            if needs_rebuild:
                continue
            if entry.is_answer:
                told.append(self._tell(entry))
            else:
                needs_rebuild = not self._update(concerned)
        if needs_rebuild and has_new:
            told = self._rebuild()
        return told

    def _problem_of(self, entry: Entry) -> str:
        """Return why an entry of the log cannot be used; empty if it can."""
        if entry.kind == INVALID:
            return entry.answer
        if entry.retracts is not None and entry.retracts not in self.entries.by_id:
            return f"it retracts entry {entry.retracts}, which is not in the log of this criterion"
        if entry.is_answer:
            try:
                line = entry.line(self.criterion.name)
                self._answers[entry.id] = answer_from_line(line, self._images.positions)
            except LikewiseError as error:
                return str(error)
        return ""

    def _update(self, concerned: Entry) -> bool:
        """Apply the new state of an old entry; return False if that needs a full replay."""
        if not concerned.is_answer:
            return concerned.kind != "merge"
        is_in_graph = concerned.id in self.graph.answers
        if is_in_graph and not self.entries.is_active(concerned.id):
            self.graph.retract(concerned.id)
            return True
        return is_in_graph == self.entries.is_active(concerned.id)

    def _rebuild(self) -> list[AnswerResult]:
        """Replay all active entries into a new graph; return the results of the answers."""
        self.graph = ConstraintGraph(len(self._images), two_groups=self.criterion.two_groups)
        self._groups = self.read_groups()
        return [self._tell(entry) for entry in self.entries.active() if entry.is_answer]

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
        return Groups(rows, (entry for entry in self.entries.active() if not entry.is_answer))


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
