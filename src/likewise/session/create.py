"""Create a session folder, and rebuild its database from the journal."""

import json
import os
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

from likewise.errors import CollectionError, SessionError
from likewise.images.collection import ImageCollection
from likewise.session.atomic import disk_errors, hidden_name, make_folder
from likewise.session.database import (
    DATABASE,
    Database,
    WriterLock,
    check_integrity,
    connect,
    create_database,
)
from likewise.session.images import Images, to_blob, to_text
from likewise.session.journal import JOURNAL, insert_line
from likewise.session.schema import create_schema, read_version
from likewise.session.validation import check_folder

_MAX_PATH = 4096  # bytes
EMBEDDINGS, MODELS, THUMBNAILS = "embeddings", "models", "thumbnails"


def create_folder(path: Path, collection: ImageCollection, root: Path | None) -> None:
    """Write a session with all images of `collection` and no answers to `path`.

    It is written to a temporary folder and then renamed, so that a crash leaves
    no incomplete session.
    """
    if not len(collection):
        raise CollectionError("The collection is empty; it must contain at least one image.")
    check_can_create(path)
    with disk_errors(path):
        fresh = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        try:
            _fill(fresh, path, collection, root or default_root(collection))
            os.rename(fresh, path)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        _fsync(path.parent)


def _fill(fresh: Path, path: Path, collection: ImageCollection, root: Path | None) -> None:
    for name in (EMBEDDINGS, MODELS, THUMBNAILS):
        make_folder(fresh / name)
    create_database(fresh)
    database = Database(fresh, write=True)
    try:
        database.rows("PRAGMA synchronous = OFF")  # synced once at the end
        Images(database).sync(collection, root)
        write_root(database, path, root, is_listed=is_listed(collection))
    finally:
        database.close()
    _fsync(fresh / DATABASE)
    _fsync(fresh)


def default_session_path(folder: Path) -> Path:
    """Return the default session of an image folder: ``FOLDER.likewise`` next to it."""
    absolute = folder.expanduser().absolute()
    if absolute.is_file():  # a table
        return absolute.with_suffix(".likewise")
    return absolute.with_name(f"{absolute.name}.likewise")


def default_root(collection: ImageCollection) -> Path | None:
    """Return the folder that the names in a collection are relative to; None if not files."""
    folder = getattr(collection, "folder", None)
    if folder is not None:
        return Path(folder).absolute()
    return Path.cwd() if hasattr(collection, "path") else None


def is_listed(collection: ImageCollection) -> bool:
    """Return whether the images are only some of their folder: those listed in a table."""
    return bool(getattr(collection, "is_listed", False))


def write_root(
    database: Database, session: Path, root: Path | None, *, is_listed: bool = False
) -> None:
    """Store the image folder, relative to the session if it is in the same parent folder.

    With `is_listed`, other images in the folder do not belong to the session.
    """
    if root is None:
        return
    root, home = root.absolute(), session.absolute().parent
    place = os.path.relpath(root, home) if root.is_relative_to(home) else str(root)
    with database.transaction() as db:
        db.execute("REPLACE INTO fact VALUES ('root', ?)", (to_blob(place),))
        db.execute("DELETE FROM fact WHERE name = 'listed'")
        if is_listed:
            db.execute("INSERT INTO fact VALUES ('listed', ?)", (to_blob("yes"),))


def read_root(database: Database, session: Path) -> Path | None:
    """Return the image folder, or None if the images are not files."""
    rows = database.rows("SELECT value FROM fact WHERE name = 'root'")
    if not rows:
        return None
    place = rows[0][0]
    if not isinstance(place, bytes) or b"\0" in place or len(place) > _MAX_PATH:
        raise SessionError(
            f"The image folder of {session} must be a path, got {place!r:.60}; the session was "
            "changed by another program. Ask for an unchanged copy."
        )
    return session.absolute().parent / to_text(place)


def read_is_listed(database: Database) -> bool:
    """Return whether other images in the image folder do not belong to the session."""
    return bool(database.rows("SELECT value FROM fact WHERE name = 'listed'"))


def check_can_create(path: Path) -> None:
    """Raise if no session can be created at `path`.

    Raises
    ------
    SessionError
    """
    if path.exists():
        raise SessionError(f"{path} already exists; open it, or choose another name.")
    if not path.parent.is_dir():
        raise SessionError(
            f"{path} cannot be created: {path.parent} is not a folder; create it first, or choose "
            "another path."
        )
    if not os.access(path.parent, os.W_OK):
        raise SessionError(
            f"{path} cannot be created: {path.parent} is read-only for you; choose another "
            "path with --session PATH."
        )


def _fsync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
    """Rebuild the database of a session from its journal if it is damaged.

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
