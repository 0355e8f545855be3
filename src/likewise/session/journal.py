"""The journal: a second copy of a session as JSON Lines, from which its database can be rebuilt.

Each transaction appends what it changes and is synced before the database commits, so the journal
contains every acknowledged answer. The database stores the length of the journal and the last
entry in it: anything beyond was not committed, and a journal that is shorter or lacks entries is
written again.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from likewise.operating_system import NO_FOLLOW, OPEN_FLAGS
from likewise.session.atomic import write_atomic

JOURNAL = "answers.jsonl"
LENGTH = "journal"  # name of the fact that holds the number of bytes
HEADER: dict[str, object] = {"kind": "session", "format": 1}
_TABLES = {  # kind of line -> table and columns
    "fact": ("fact", ("name", "value")),
    "criterion": (
        "criterion",
        ("id", "name", "n_clusters", "two_groups", "folder", "pair_text", "choice_text"),
    ),
    "group": ("made_group", ("criterion", "number", "key", "name", "colour")),
    "image": ("image", ("position", "hash", "name", "status", "size", "mtime")),
}
_SMALL = ("fact", "criterion", "group")  # compared after each transaction
_ENTRY = ("id", "criterion", "kind", "images", "answer", "group", "groups", "retracts")
_LATER = ("action", "ticked")  # columns of the log that lines of older releases lack
_LATER_FIELDS = ("criterion_pair_text", "criterion_choice_text")  # the same of other tables
_LISTS = ("images", "groups", "ticked")  # JSON in the database
_COLUMNS = (*_ENTRY, "who", "at", "seconds", *_LATER)
_N_PER_WRITE = 10_000  # lines
Row = tuple[Any, ...]


class Journal:
    """The journal of a session that is open for writing.

    Parameters
    ----------
    folder : Path
    db : sqlite3.Connection
        With the newest schema.
    """

    def __init__(self, folder: Path, db: sqlite3.Connection) -> None:
        self.path: Path = folder / JOURNAL
        self._db = db
        self._file, self._is_rewritten = -1, False
        self._length = self._length_in_database()
        size = self.path.stat().st_size if self.path.exists() else -1
        if self._length < 0 or size < self._length:
            db.execute("BEGIN IMMEDIATE")
            self._write_all()
            db.execute("COMMIT")
        else:
            self._open()
            os.ftruncate(self._file, self._length)
        self.confirm()

    def append(self, images: Iterable[Row] = ()) -> None:
        """Append and sync what the open transaction changed.

        Parameters
        ----------
        images : iterable of tuple
            The changed rows of the table of images.
        """
        if not self._is_in_place():
            self._write_all()
            return
        lines = [_line("image", row) for row in images]
        for kind in _SMALL:
            new = [row for row in _rows(self._db, kind) if row not in self._known[kind]]
            lines += [_line(kind, row) for row in new]
        lines += _entries(self._db, self._last)
        content = "".join(lines).encode()
        if content:
            _write(self._file, content, self._length)
            os.fsync(self._file)
            self._store_length(self._length + len(content))

    def confirm(self) -> None:
        """Continue after the transaction, which was committed."""
        self._length, self._is_rewritten = self._length_in_database(), False
        self._remember()

    def cancel(self) -> None:
        """Remove what was appended for a transaction that was not committed."""
        with contextlib.suppress(OSError):
            if self._is_rewritten:  # the next transaction writes it again
                os.unlink(self.path)
            else:
                os.ftruncate(self._file, self._length)

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _remember(self) -> None:
        self._known = {kind: set(_rows(self._db, kind)) for kind in _SMALL}
        self._last = _last_entry(self._db)

    def _open(self) -> None:
        self.close()
        self._file = os.open(self.path, os.O_RDWR | OPEN_FLAGS | NO_FOLLOW)

    def _is_in_place(self) -> bool:
        """Return whether the open file is still the one in the folder."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._file))
        except OSError:
            return False

    def _write_all(self) -> None:
        """Write the whole database to a new journal, inside a transaction."""

        def write(descriptor: int) -> None:
            offset = 0
            for part in _parts(self._db):
                content = "".join(part).encode()
                _write(descriptor, content, offset)
                offset += len(content)

        write_atomic(self.path, write)
        self._is_rewritten = True
        self._open()
        self._store_length(os.fstat(self._file).st_size)

    def _length_in_database(self) -> int:
        """Return the number of bytes; -1 if the log has other entries than at that time."""
        row = self._db.execute("SELECT value FROM fact WHERE name = ?", (LENGTH,)).fetchone()
        length, _, last = bytes(row[0]).partition(b" ") if row else (b"", b"", b"")
        is_current = length.isdigit() and last == b"%d" % _last_entry(self._db)
        return int(length) if is_current else -1

    def _store_length(self, length: int) -> None:
        value = b"%d %d" % (length, _last_entry(self._db))
        self._db.execute("REPLACE INTO fact VALUES (?, ?)", (LENGTH, value))


def _last_entry(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT coalesce(max(id), 0) FROM log").fetchone()[0])


def _parts(db: sqlite3.Connection) -> Iterator[list[str]]:
    """Yield the lines of a whole session in parts."""
    yield [json.dumps(HEADER) + "\n"]
    for kind in _TABLES:
        yield [_line(kind, row) for row in _rows(db, kind)]
    last = 0
    while part := _entries(db, last, _N_PER_WRITE):
        yield part
        last = json.loads(part[-1])["id"]


def _fetch(db: sqlite3.Connection, sql: str, values: Row = ()) -> list[Row]:
    """Return all rows of a query; invalid bytes of a text become U+FFFD."""
    default = db.text_factory
    db.text_factory = lambda text: text.decode("utf-8", "replace")
    try:
        return db.execute(sql, values).fetchall()
    finally:
        db.text_factory = default


def _rows(db: sqlite3.Connection, kind: str) -> list[Row]:
    table, columns = _TABLES[kind]
    rows = _fetch(db, f"SELECT {', '.join(columns)} FROM {table}")
    return [row for row in rows if kind != "fact" or row[0] != LENGTH]


def _line(kind: str, row: Row) -> str:
    """Return a row as a line; bytes, which are texts that may not be UTF-8, as text."""
    columns = _TABLES[kind][1]
    cells = [c.decode("utf-8", "surrogatepass") if isinstance(c, bytes) else c for c in row]
    fields = {f"{kind}_{name}": cell for name, cell in zip(columns, cells, strict=True)}
    return json.dumps({"kind": kind, **fields}) + "\n"


def _entries(db: sqlite3.Connection, after: int, limit: int = -1) -> list[str]:
    """Return the entries of the log as lines: those of an answers file, with some more fields."""
    names = ", ".join(f'log."{name}"' for name in _COLUMNS)
    rows = _fetch(
        db,
        f"SELECT {names}, criterion.name FROM log JOIN criterion ON criterion.id = log.criterion "
        "WHERE log.id > ? ORDER BY log.id LIMIT ?",
        (after, limit),
    )
    lines = []
    for *cells, criterion in rows:
        fields = dict(zip(_COLUMNS, cells, strict=True))
        fields |= {"criterion": criterion, "criterion_id": fields["criterion"]}
        for name in _LISTS:
            with contextlib.suppress(ValueError, RecursionError):  # a row that is not valid
                fields[name] = fields[name] and json.loads(fields[name])
        lines.append(json.dumps(fields) + "\n")
    return lines


def _write(descriptor: int, content: bytes, offset: int) -> None:
    """Write all of `content` at `offset`."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def is_header(line: bytes) -> bool:
    """Return whether the first line of a file is that of a journal."""
    with contextlib.suppress(ValueError, RecursionError):
        return bool(json.loads(line) == HEADER)
    return False


def insert_line(db: sqlite3.Connection, fields: dict[str, Any]) -> bool:
    """Insert one line of a journal into a new database; return whether it is an entry.

    Raises
    ------
    KeyError, TypeError, ValueError, sqlite3.Error
        If the line is not valid.
    """
    kind = fields["kind"]
    if kind in _TABLES:
        table, columns = _TABLES[kind]
        fields = dict.fromkeys(_LATER_FIELDS) | fields
        cells = [fields[f"{kind}_{name}"] for name in columns]
        binary = {("fact", "value"), ("image", "name")}
        row = [
            cell.encode("utf-8", "surrogatepass") if (kind, name) in binary else cell
            for name, cell in zip(columns, cells, strict=True)
        ]
        marks = ", ".join("?" * len(row))
        db.execute(f"REPLACE INTO {table} ({', '.join(columns)}) VALUES ({marks})", row)
        return False
    if kind == HEADER["kind"]:
        return False
    fields = dict.fromkeys(_LATER) | fields
    values = {name: fields[name] for name in _COLUMNS} | {"criterion": fields["criterion_id"]}
    for name in _LISTS:
        if values[name] is not None:
            values[name] = json.dumps(values[name], ensure_ascii=False)
    names, marks = ", ".join(f'"{name}"' for name in values), ", ".join("?" * len(values))
    db.execute(f"INSERT INTO log ({names}) VALUES ({marks})", list(values.values()))
    return True
