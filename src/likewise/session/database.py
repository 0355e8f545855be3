"""The SQLite database of a session: connection, transactions and the writer lock."""

import contextlib
import os
import sqlite3
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import RLock
from typing import Any

from likewise.errors import SessionBusyError, SessionError
from likewise.operating_system import call_after_fork, lock_folder
from likewise.session.atomic import (
    create_file,
    damage_message,
    disk_errors,
    is_damage,
    make_private,
    raise_clear,
)
from likewise.session.journal import Journal, Row
from likewise.session.schema import (
    APPLICATION_ID,
    MIGRATIONS,
    create_schema,
    empty_database,
    migrate,
    read_version,
)
from likewise.session.validation import check_folder, check_schema, restrict

DATABASE = "session.sqlite3"
PID_FILE = "writer.pid"  # used in the error message only; the lock is on the folder
_MAGIC = b"SQLite format 3\0"
_BUSY_TIMEOUT = 5.0  # seconds to wait for another program that locks the database


class Database:
    """An open session database; thread-safe.

    Parameters
    ----------
    folder : Path
        The session folder.
    write : bool
        Whether to acquire the writer lock. Readers take no lock and see what
        the writer has committed.
    """

    def __init__(self, folder: Path, *, write: bool) -> None:
        self.folder = folder
        self.path: Path = folder / DATABASE
        self.write = write
        self.lock: RLock = RLock()
        self._is_damaged = False
        self.n_written: int = 0  # committed transactions; lets the writer skip reading the disk
        _check_exists(self.folder, self.path)
        with disk_errors(self.path), contextlib.ExitStack() as undo:
            check_folder(folder)
            if write:
                self._writer: WriterLock | None = WriterLock(folder)
                undo.callback(self._writer.release)
                make_private(folder)  # release 0.1 created it readable for everyone
                self._db = connect(f"{self.path.absolute().as_uri()}?mode=rw")
            else:
                self._writer = None
                self._db = _connect_for_reading(self.path)
            undo.callback(self._db.close)
            self._prepare()
            self._inode = os.stat(self.path).st_ino
            self._journal = Journal(folder, self._db) if write else None
            undo.pop_all()

    def _prepare(self) -> None:
        """Check the file and migrate it to the newest schema."""
        restrict(self._db)
        version = read_version(self._db)
        with contextlib.closing(empty_database(version)) as wanted:
            check_schema(self._db, self.path, wanted)
        if self.write:
            check_integrity(self._db, self.path)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")  # a commit returns after its fsync
            migrate(self._db)
            self._db.execute("PRAGMA foreign_keys = ON")
        elif version < len(MIGRATIONS):
            raise SessionError(
                f"{self.path} was written by an older release (schema {version}; this release "
                f"reads {len(MIGRATIONS)}); open it once for writing, which migrates it."
            )

    def rows(self, sql: str, *values: Any) -> list[Any]:
        """Return all rows of a query."""
        with self.lock:
            try:
                return self._rows(sql, values)
            except (sqlite3.Error, OSError) as error:
                raise_clear(error, self.path)

    def _rows(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            if "decode" not in str(error):
                raise
        self._db.text_factory = _decode_invalid  # much slower than the default
        return self._db.execute(sql, values).fetchall()

    @contextlib.contextmanager
    def transaction(self, images: Iterable[Row] = ()) -> Iterator[sqlite3.Connection]:
        """Commit everything executed inside the block durably, or roll all of it back.

        Parameters
        ----------
        images : iterable of tuple
            The rows of the table of images that the transaction changes, for the journal.

        Raises
        ------
        SessionError
            If it could not be written; then nothing was.
        """
        with self.lock:
            try:
                self._check_writable()
                assert self._journal is not None  # open for writing
                try:
                    self._db.execute("BEGIN IMMEDIATE")
                    yield self._db
                    self._journal.append(images)
                    self._db.execute("COMMIT")
                    self.n_written += 1
                except BaseException as error:
                    self._is_damaged = self._is_damaged or is_damage(error)
                    with contextlib.suppress(sqlite3.DatabaseError):
                        self._db.rollback()
                    self._journal.cancel()
                    raise
                self._journal.confirm()
            except (sqlite3.Error, OSError) as error:
                raise_clear(error, self.path)

    def _check_writable(self) -> None:
        """Raise if the session is read-only, or if its file was moved or deleted."""
        if not self.write:
            raise SessionError(
                f"{self.folder} was opened for reading only, so nothing can be added; open it for "
                "writing."
            )
        # SQLite would keep writing to a deleted file and report success.
        try:
            is_same_file = os.stat(self.path).st_ino == self._inode
        except OSError:
            is_same_file = False
        if not is_same_file:
            raise SessionError(
                f"{self.path} was moved, replaced or deleted while it was open, so nothing was "
                "written; restore it, or open the session again."
            )
        if self._is_damaged or not _has_header(self.path):
            self._is_damaged = True
            raise SessionError(damage_message(self.path))

    def close(self) -> None:
        """Close the database and release the writer lock."""
        with self.lock:
            self._db.close()
            if self._journal is not None:
                self._journal.close()
            if self._writer is not None:
                self._writer.release()


def create_database(folder: Path) -> None:
    """Write an empty database into an existing folder; the caller calls fsync."""
    with disk_errors(folder / DATABASE):
        os.close(create_file(folder / DATABASE))  # SQLite gives its other files this file's mode
        db = connect(f"{(folder / DATABASE).absolute().as_uri()}?mode=rw")
        try:
            db.execute("PRAGMA synchronous = OFF")
            create_schema(db)
        finally:
            db.close()


def check_integrity(db: sqlite3.Connection, path: Path) -> None:
    """Raise SessionError if the database is damaged."""
    found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok" and "CHECK constraint" not in found and "NULL value" not in found:
        raise SessionError(f"{damage_message(path)} ({found})")


def _has_header(path: Path) -> bool:
    """Return whether a file begins as a database of a session; another program may overwrite it."""
    with open(path, "rb") as stream:
        header = stream.read(100)
    return header.startswith(_MAGIC) and header[68:72] == APPLICATION_ID.to_bytes(4)


def _decode_invalid(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _check_exists(folder: Path, database: Path) -> None:
    if not folder.exists():
        raise SessionError(
            f"{folder} does not exist; check the path, or create a session with `likewise start`."
        )
    if not database.is_file():
        raise SessionError(
            f"{folder} is not a session (it contains no {DATABASE}); give a folder made by "
            "`likewise start`, or create a new session."
        )


def connect(uri: str) -> sqlite3.Connection:
    """Open a database with explicit transactions; `Database.lock` serializes its threads."""
    return sqlite3.connect(
        uri, uri=True, timeout=_BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
    )


def _connect_for_reading(path: Path) -> sqlite3.Connection:
    """Open a database without writing anything, also on a read-only disk.

    On such a disk SQLite cannot create its index of the write-ahead log. If
    there is no write-ahead log the file is complete and is opened as immutable.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    db = connect(uri)
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchall()
    except sqlite3.OperationalError:
        db.close()
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size > 0:
            raise
        return connect(f"{uri}&immutable=1")
    except BaseException:
        db.close()
        raise
    return db


class WriterLock:
    """Exclusive lock on a session folder, held until `release` or the end of the process.

    Not `filelock`: that locks a file inside the folder, which a user can delete
    while it is held, and a forked child would keep the lock after its parent ended.

    Raises
    ------
    SessionBusyError
        If another process, or this one, is already writing to the session.
    """

    def __init__(self, folder: Path) -> None:
        self._pid_file = folder / PID_FILE
        try:
            self._descriptor: int | None = lock_folder(folder)
        except BlockingIOError:
            raise SessionBusyError(_busy_message(folder)) from None
        try:
            self._pid_file.unlink(missing_ok=True)
            with open(create_file(self._pid_file), "w", encoding="ascii") as stream:
                stream.write(f"{os.getpid()}\n")
        except OSError:
            self._close()
            raise
        _HELD.add(self)

    def release(self) -> None:
        """Release the lock; further calls have no effect."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):  # the folder may have been deleted
                self._pid_file.unlink()
            self._close()

    def _close(self) -> None:
        """Close the descriptor without touching the PID file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


_HELD: "weakref.WeakSet[WriterLock]" = weakref.WeakSet()


def _close_after_fork() -> None:
    """Keep a forked child from holding the lock after its parent ended."""
    for lock in list(_HELD):
        lock._close()
    _HELD.clear()


call_after_fork(_close_after_fork)


def _busy_message(folder: Path) -> str:
    try:
        pid = int((folder / PID_FILE).read_text(encoding="ascii"))
    except (OSError, ValueError):
        who = "another process"
    else:
        who = "this process" if pid == os.getpid() else f"another process (pid {pid})"
    return f"{folder} is in use for writing by {who}; close it there first (Ctrl+C)."
