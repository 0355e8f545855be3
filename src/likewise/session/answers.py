"""The log of answers: only ever added to, so that any state can be replayed."""

import json
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from likewise.session.store import Store

ANSWERS = frozenset({"pair", "choice", "label"})
CHANGES = frozenset({"rename", "colour", "merge"})  # what people do to groups
TAKE_BACK = "take_back"
STAND_BY = "stand_by"  # "it is right", said of an answer that was doubted

_COLUMNS = 'id, orientation, kind, images, answer, "group", groups, takes_back, who, at, seconds'


@dataclass(frozen=True)
class Entry:
    """One line of the log: an answer, a change of a group, a word for an answer, or a take-back.

    Parameters
    ----------
    id : int
        Grows with time; never used twice.
    orientation : int
    kind : {"pair", "choice", "label", "rename", "colour", "merge", "stand_by", "take_back"}
    images : tuple of str
        Content hashes.
    answer : str
        What was said; the new name or colour of a group; the number of the answer stood by.
    group : str, optional
        The key of the group that was chosen or changed.
    groups : tuple of str
        The keys shown with a choice; the key a group was merged into; what was stood by.
    takes_back : int, optional
        The entry that is taken back.
    who, at : str
    seconds : float, optional
    """

    id: int
    orientation: int
    kind: str
    images: tuple[str, ...] = ()
    answer: str = ""
    group: str | None = None
    groups: tuple[str, ...] = ()
    takes_back: int | None = None
    who: str = ""
    at: str = ""
    seconds: float | None = None

    @property
    def is_answer(self) -> bool:
        """Return whether this answers a question."""
        return self.kind in ANSWERS

    def line(self, orientation: str) -> dict[str, Any]:
        """Return the portable form, see ``constraints/wire.py``."""
        shown = {"groups": list(self.groups)} if self.kind == "choice" else {}
        return {
            "kind": self.kind,
            "images": list(self.images),
            "answer": self.answer,
            "group": self.group,
            **shown,
            "orientation": orientation,
            "who": self.who,
            "at": self.at,
            "seconds": self.seconds,
        }


def append(db: sqlite3.Connection, orientation: int, kind: str, **columns: Any) -> int:
    """Add one entry inside the caller's transaction; return its id.

    Lists become JSON; `who` and `at` become empty and now where they are left out.
    """
    row = {"who": "", "at": now(), **columns, "orientation": orientation, "kind": kind}
    values = [_json(v) if isinstance(v, list | tuple) else v for v in row.values()]
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join("?" * len(row))
    cursor = db.execute(f"INSERT INTO log ({names}) VALUES ({marks})", values)
    assert cursor.lastrowid is not None  # an INSERT into a table with a rowid
    return cursor.lastrowid


def read(store: Store, orientation: int, after: int = 0) -> list[Entry]:
    """Return the entries of one orientation that come after entry `after`, in order."""
    rows = store.rows(
        f"SELECT {_COLUMNS} FROM log WHERE orientation = ? AND id > ? ORDER BY id",
        orientation,
        after,
    )
    return [_entry(row) for row in rows]


def find(store: Store, number: int) -> Entry | None:
    """Return the entry with this id, whatever its orientation."""
    rows = store.rows(f"SELECT {_COLUMNS} FROM log WHERE id = ?", number)
    return _entry(rows[0]) if rows else None


def now() -> str:
    """Return the time as it stands in the log: ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _entry(row: tuple[Any, ...]) -> Entry:
    number, orientation, kind, images, answer, group, groups, takes_back, who, at, seconds = row
    return Entry(
        number,
        orientation,
        kind,
        images=_tuple(images),
        answer=answer or "",
        group=group,
        groups=_tuple(groups),
        takes_back=takes_back,
        who=who,
        at=at,
        seconds=seconds,
    )


def _json(values: list[str] | tuple[str, ...]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _tuple(text: str | None) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text else ()
