"""Rebuild the damaged database of a session from its journal."""

import json
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from likewise.errors import SessionError
from likewise.session.atomic import disk_errors, hidden_name
from likewise.session.database import DATABASE, WriterLock, check_integrity, connect
from likewise.session.journal import JOURNAL, insert_line
from likewise.session.schema import create_schema, read_version
from likewise.session.validation import check_folder


@dataclass(frozen=True)
class Repaired:
    """Result of a repair.

    Parameters
    ----------
    n_entries : int
        Entries of the log in the rebuilt database.
    invalid : tuple of int
        Lines of the journal that are not valid, numbered from 1; they were left out.
    kept : Path, optional
        The damaged database under its new name; None if there was none, or it is not damaged.
    is_changed : bool
        False if the database is not damaged, and nothing was done.
    """

    n_entries: int
    invalid: tuple[int, ...] = ()
    kept: Path | None = None
    is_changed: bool = True


def repair(folder: Path) -> Repaired:
    """Rebuild the database of a session from its journal, unless it is not damaged.

    The damaged database is kept under another name.

    Raises
    ------
    SessionError
        If there is no journal, or it contains no session.
    SessionBusyError
        If the session is open for writing.
    """
    path, journal = folder / DATABASE, folder / JOURNAL
    if not folder.is_dir():
        raise SessionError(f"{folder} does not exist; give the folder of a session.")
    with disk_errors(path):
        check_folder(folder)
        lock = WriterLock(folder)
        try:
            if (n_entries := _count_if_healthy(path)) is not None:
                return Repaired(n_entries, is_changed=False)
            if not journal.is_file():
                raise SessionError(
                    f"{folder} contains no {JOURNAL}, so its database cannot be rebuilt; restore a "
                    "copy of the session."
                )
            fresh = hidden_name(path)
            try:
                n_entries, invalid = _rebuild(fresh, journal)
                kept = _keep(path)
                os.replace(fresh, path)
            finally:
                fresh.unlink(missing_ok=True)
        finally:
            lock.release()
    return Repaired(n_entries, tuple(invalid), kept)


def _count_if_healthy(path: Path) -> int | None:
    """Return the number of entries of a database; None if it is missing or damaged."""
    if not path.is_file():
        return None
    db = None
    try:
        db = connect(f"{path.absolute().as_uri()}?mode=rw")
        read_version(db)
        check_integrity(db, path)
        return int(db.execute("SELECT count(*) FROM log").fetchone()[0])
    except (sqlite3.DatabaseError, SessionError):
        return None
    finally:
        if db is not None:
            db.close()


def _rebuild(fresh: Path, journal: Path) -> tuple[int, list[int]]:
    """Write a new database; return its number of entries and the lines that are not valid."""
    n_entries, invalid = 0, []
    os.close(os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    db = connect(f"{fresh.absolute().as_uri()}?mode=rw")
    try:
        create_schema(db)
        db.execute("BEGIN")
        with journal.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    n_entries += insert_line(db, json.loads(line))
                except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
                    invalid.append(number)
                except sqlite3.IntegrityError:  # a duplicate, or a value that is not allowed
                    invalid.append(number)
        if not db.execute("SELECT count(*) FROM image").fetchone()[0]:
            raise SessionError(
                f"{journal} contains no images, so the session cannot be rebuilt; restore a copy."
            )
        db.execute("COMMIT")
    finally:
        db.close()
    descriptor = os.open(fresh, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    return n_entries, invalid


def _keep(path: Path) -> Path | None:
    """Rename a damaged database and its write-ahead log; return the new name."""
    kept = None
    number = 1
    while path.with_name(f"damaged-{number}.{path.name}").exists():
        number += 1
    for ending in ("", "-wal", "-shm"):
        one = path.with_name(path.name + ending)
        if one.exists():
            target = path.with_name(f"damaged-{number}.{one.name}")
            os.replace(one, target)
            kept = kept or target
    return kept
