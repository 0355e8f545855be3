"""The answer log: entries (answers, retractions, group changes) that are added, never changed."""

import json
import math
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from sys import intern
from typing import Any

from likewise.constraints.question import KINDS, RESERVED, Answer
from likewise.constraints.serialization import answer_from_line, answer_to_line
from likewise.errors import InvalidParameterError, LikewiseError
from likewise.session.criteria import check_printable, check_text
from likewise.session.database import Database
from likewise.session.groups import check_change, create_group
from likewise.session.images import Images

ANSWERS = frozenset(KINDS)
GROUP_CHANGES = frozenset({"rename", "colour", "merge"})
RETRACT = "retract"
INVALID = "invalid"  # a row that cannot be used; never written
CONFIRM = "confirm"  # a label issue was reviewed and the answer is right

_KNOWN = ANSWERS | GROUP_CHANGES | {RETRACT, CONFIRM}
_COLUMNS = (
    'id, criterion, kind, images, answer, "group", groups, retracts, who, at, seconds, action, '
    "ticked"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the log: an answer, a change of a group, a confirmation, or a retraction.

    Parameters
    ----------
    id : int
        Increasing; never reused.
    criterion : int
        Id of the criterion.
    kind : {"pair", "choice", "grid", "label", "rename", "colour", "merge", "confirm", "retract"}
    images : tuple of str
        Content hashes.
    answer : str
        The answer; the new name or colour of a group; the id of the confirmed answer.
    group : str, optional
        The key of the group that was chosen or changed, or that a grid is about.
    groups : tuple of str
        The keys shown with a choice; the key a group was merged into; the confirmed answer.
    retracts : int, optional
        The entry that is retracted.
    who, at : str
    seconds : float, optional
    action : int, optional
        The first entry of the action it was written with; None if it is that entry.
    ticked : tuple of str
        Content hashes of the ticked images of a grid.
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
    action: int | None = None
    ticked: tuple[str, ...] = ()

    @property
    def is_answer(self) -> bool:
        """Return whether this answers a question."""
        return self.kind in ANSWERS

    def line(self, criterion: str) -> dict[str, Any]:
        """Return the entry as one object of a JSON Lines file."""
        shown = {"groups": list(self.groups)} if self.kind == "choice" else {}
        if self.kind == "grid":
            shown = {"ticked": list(self.ticked)}
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
    for name in ("images", "groups", "ticked"):
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
    return [to_entry_or_invalid(row) for row in read_rows(database, criterion, after)]


def read_rows(
    database: Database, criterion: int, after: int, limit: int = -1
) -> list[tuple[Any, ...]]:
    """Return the rows of at most `limit` entries, in order; with a negative `limit`, of all."""
    return database.rows(
        f"SELECT {_COLUMNS} FROM log WHERE criterion = ? AND id > ? ORDER BY id LIMIT ?",
        *(criterion, after, limit),
    )


def find(database: Database, number: int) -> Entry | None:
    """Return the entry with this id, of any criterion."""
    rows = database.rows(f"SELECT {_COLUMNS} FROM log WHERE id = ?", number)
    return to_entry_or_invalid(rows[0]) if rows else None


def now() -> str:
    """Return the current time as ISO 8601, UTC, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _to_entry(row: tuple[Any, ...]) -> Entry:
    number, criterion, kind, images, answer, group, groups, retracts, *rest = row
    who, at, seconds, action, ticked = rest
    return Entry(
        number,
        criterion,
        intern(kind),  # equal texts of many entries are kept once
        parse_texts(images),
        intern(answer or ""),
        None if group is None else intern(group),
        parse_texts(groups) if groups else (),
        retracts,
        intern(who),
        at,
        seconds,
        action,
        parse_texts(ticked) if ticked else (),
    )


def to_entry_or_invalid(row: tuple[Any, ...]) -> Entry:
    """Return a row as an entry; one that is not valid gets the kind `INVALID` and the reason."""
    try:
        entry = _to_entry(row)
        _check_entry(entry)
    except (ValueError, TypeError, RecursionError, LikewiseError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        return Entry(row[0], row[1], INVALID, answer=reason)
    return entry


def _check_entry(entry: Entry) -> None:
    """Raise ValueError or TypeError if an entry cannot have been written by this package."""
    if not isinstance(entry.at, str):  # `intern` has checked the other texts
        raise TypeError("a text is not text")
    if entry.kind not in _KNOWN:
        raise ValueError(f"unknown kind {entry.kind!r:.30}")
    if (entry.kind == RETRACT) != (entry.retracts is not None):
        raise ValueError("only a retraction refers to another entry")
    newest = max(entry.retracts or 0, entry.action or 0)
    if not newest < entry.id:
        raise ValueError(f"it refers to entry {newest}, which is not an earlier one")
    if entry.kind == "merge" and len(entry.groups) != 1:
        raise ValueError("a merge needs one other group")
    if entry.kind == "colour":
        check_change(name=None, colour=entry.answer)
    if entry.kind == CONFIRM:
        int(entry.answer)


def _to_json(values: tuple[str, ...]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def parse_texts(text: str | None) -> tuple[str, ...]:
    """Return the strings of a JSON list; raise ValueError or TypeError if it is none."""
    values = json.loads(text) if text else []
    if not isinstance(values, list) or not {str}.issuperset(map(type, values)):
        raise ValueError("a list is not a JSON list of strings")
    return tuple(map(intern, values))


def checked_line(images: Images, answer: Answer) -> dict[str, Any]:
    """Return an answer as a line of the log; raise if the log cannot store it."""
    n_images = len(images.hashes)
    for image in answer.question.images:
        if not 0 <= image < n_images:
            raise InvalidParameterError(
                f"Image {image} is not in this session; images are numbered 0 to {n_images - 1}."
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


def kind_and_fields(line: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a line of the log in the form that `append_action` takes."""
    return line["kind"], {name: value for name, value in line.items() if name != "kind"}


def append_answer(
    db: sqlite3.Connection, criterion: int, line: dict[str, Any], action: int | None = None
) -> Entry:
    """Write an answer, and the group that a label names if it does not exist yet."""
    fields = {name: value for name, value in line.items() if name not in ("kind", "criterion")}
    entry = append(db, criterion, line["kind"], **fields, action=action)
    if entry.kind == "label" and entry.answer not in RESERVED:
        create_group(db, criterion, key=entry.answer)
    return entry


def append_action(
    db: sqlite3.Connection, criterion: int, entries: Iterable[tuple[str, dict[str, Any]]]
) -> list[Entry]:
    """Write entries, given as kind and fields, inside the caller's transaction as one action."""
    written: list[Entry] = []
    for kind, fields in entries:
        action = written[0].id if written else None
        if kind in ANSWERS:
            written.append(append_answer(db, criterion, {"kind": kind, **fields}, action))
        else:
            written.append(append(db, criterion, kind, **fields, action=action))
    return written
