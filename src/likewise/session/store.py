"""The database of a session: opened with care, written in transactions, one writer."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from threading import RLock
from typing import Any

from likewise.errors import SessionError
from likewise.session.lock import WriterLock
from likewise.session.schema import MIGRATIONS, begin, migrate, version_of
from likewise.session.words import in_words

DATABASE = "session.sqlite3"
_SECONDS_TO_WAIT = 5.0  # for a foreign program that holds the database for a moment


class Store:
    """An open session database; safe to call from many threads.

    Parameters
    ----------
    folder : Path
        The session folder.
    write : bool
        Whether to take the writer's lock. Readers take none and see what the
        writer has committed.
    """

    def __init__(self, folder: Path, *, write: bool) -> None:
        self.folder, self.path, self.write = folder, folder / DATABASE, write
        self.lock = RLock()
        self.n_written = 0  # transactions; whoever has seen them all need not look at the disk
        _check_place(self.folder, self.path)
        with in_words(self.path), contextlib.ExitStack() as undo:
            if write:
                self._writer: WriterLock | None = WriterLock(folder)
                undo.callback(self._writer.release)
                self._db = _connect(f"{self.path.absolute().as_uri()}?mode=rw")
            else:
                self._writer = None
                self._db = _connect_for_reading(self.path)
            undo.callback(self._db.close)
            self._prepare()
            self._inode = os.stat(self.path).st_ino
            undo.pop_all()

    def _prepare(self) -> None:
        """Check the file and bring it to the newest schema, or say why that cannot be."""
        version = version_of(self._db)
        if self.write:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")  # a commit returns after its fsync
            self._db.execute("PRAGMA foreign_keys = ON")
            migrate(self._db)
        elif version < len(MIGRATIONS):
            raise SessionError(
                f"{self.path} was written by an older release (schema {version}; this one reads "
                f"{len(MIGRATIONS)}); open it once for writing, which brings it up to date."
            )

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Return all rows of a query."""
        with self.lock, in_words(self.path):
            return self._db.execute(sql, values).fetchall()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write all that is done inside, durably, or nothing of it.

        Raises
        ------
        SessionError
            If it could not be written; then nothing was.
        """
        with self.lock, in_words(self.path):
            self._check_writable()
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
                self.n_written += 1
            except BaseException:
                self._db.rollback()
                raise

    def _check_writable(self) -> None:
        """Refuse to write where it would be lost or is not allowed."""
        if not self.write:
            raise SessionError(
                f"{self.folder} was opened for reading only, so nothing can be added; open it for "
                "writing."
            )
        # SQLite would go on writing to a deleted file, and acknowledge it.
        try:
            is_there = os.stat(self.path).st_ino == self._inode
        except OSError:
            is_there = False
        if not is_there:
            raise SessionError(
                f"{self.path} was moved, replaced or deleted while it was open, so this was not "
                "written; put it back, or open the session again."
            )

    def close(self) -> None:
        """Close the database and let the next writer in."""
        with self.lock:
            self._db.close()
            if self._writer is not None:
                self._writer.release()


def begin_store(folder: Path) -> None:
    """Write an empty database into an existing folder; the caller makes it durable."""
    with in_words(folder / DATABASE):
        db = _connect(f"{(folder / DATABASE).absolute().as_uri()}?mode=rwc")
        try:
            db.execute("PRAGMA synchronous = OFF")
            begin(db)
        finally:
            db.close()


def _check_place(folder: Path, database: Path) -> None:
    """Say in words that there is no session, before SQLite says it in numbers."""
    if not folder.exists():
        raise SessionError(
            f"{folder} does not exist; check the path, or begin a session with `likewise start`."
        )
    if not database.is_file():
        raise SessionError(
            f"{folder} is not a session (there is no {DATABASE} in it); give a folder that "
            "`likewise start` made, or begin a new session."
        )


def _connect(uri: str) -> sqlite3.Connection:
    """Open a database with explicit transactions, for use from several threads under our lock."""
    return sqlite3.connect(
        uri, uri=True, timeout=_SECONDS_TO_WAIT, isolation_level=None, check_same_thread=False
    )


def _connect_for_reading(path: Path) -> sqlite3.Connection:
    """Open a database without writing anything, also on a read-only disk.

    On such a disk SQLite cannot make its index of the write-ahead log. Where
    there is no such log the file is complete by itself and may be read as it is.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    db = _connect(uri)
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchall()
    except sqlite3.OperationalError:
        db.close()
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size > 0:
            raise
        return _connect(f"{uri}&immutable=1")
    except BaseException:
        db.close()
        raise
    return db
