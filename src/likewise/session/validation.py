"""Security checks of a session from another person: its folder, SQL schema and rows.

Independent of its contents, opening a session reads and writes only in its folder and the image
folder, runs no SQL from the file, and terminates.
"""

import contextlib
import os
import re
import sqlite3
from pathlib import Path

from likewise.errors import ImageError, SessionError

MAX_BYTES = 16 * 2**20  # of one value in the database, and of one JSON file
_HASH = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,127}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def check_folder(folder: Path) -> None:
    """Raise if a session folder contains a link, a pipe or a device.

    A link could lead to any file of the user, and a pipe would block whoever opens it.

    Raises
    ------
    SessionError
    """
    folders = [os.fspath(folder)]
    while folders:
        with contextlib.suppress(FileNotFoundError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.is_file(follow_symlinks=False) and os.path.lexists(entry.path):
                    raise SessionError(
                        f"{folder} must contain only files and folders, got a link, pipe or device "
                        f"{entry.path!r}; delete it, then open the session again."
                    )


def restrict(db: sqlite3.Connection) -> None:
    """Make SQLite treat the file as untrusted: no functions in its schema, no oversized values."""
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")
    db.execute("PRAGMA mmap_size = 0")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
    db.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 2**20)


def check_schema(db: sqlite3.Connection, path: Path, wanted: sqlite3.Connection) -> None:
    """Raise if the schema differs from that of a session.

    Triggers, views, virtual tables and generated columns run SQL from the file.

    Parameters
    ----------
    db : sqlite3.Connection
    path : Path
    wanted : sqlite3.Connection
        An empty database with the right schema.

    Raises
    ------
    SessionError
    """
    every = "SELECT type, name, sql FROM sqlite_master"
    known = {(kind, name) for kind, name, _ in wanted.execute(every)}
    for kind, name, sql in db.execute(every).fetchall():
        is_own = (kind, name) in known
        is_internal = kind in ("table", "index") and str(name).startswith("sqlite_")
        is_virtual = str(sql).upper().lstrip().startswith("CREATE VIRTUAL")
        if not (is_own or is_internal) or is_virtual:
            raise SessionError(
                f"{path} must contain only the tables of a session, got the {kind} {name!r:.60}; "
                "it was changed by another program. Ask for an unchanged copy."
            )
    for name in sorted(name for kind, name in known if kind == "table"):
        columns = f'PRAGMA table_xinfo("{name}")'
        found, needed = db.execute(columns).fetchall(), wanted.execute(columns).fetchall()
        if any(column[6] for column in found):
            raise SessionError(
                f"The table {name!r} of {path} must have no generated columns; it was changed by "
                "another program. Ask for an unchanged copy."
            )
        if [column[:3] for column in found] != [column[:3] for column in needed]:
            raise SessionError(
                f"The table {name!r} of {path} must have the columns "
                f"{', '.join(column[1] for column in needed)}, got "
                f"{', '.join(str(column[1]) for column in found) or 'none':.200}; it was changed "
                "by another program. Ask for an unchanged copy."
            )


def check_images(rows: list[tuple[int, str, bytes, str]]) -> None:
    """Raise if the rows (position, hash, name, status) of the images are not those of a session.

    Hashes are names of files in the session folder.

    Raises
    ------
    SessionError
    """
    for expected, (position, content, name, status) in enumerate(rows):
        if position != expected:
            raise SessionError(
                f"The images must be numbered 0 to {len(rows) - 1}, got no image {expected}; the "
                "session was changed by another program. Ask for an unchanged copy."
            )
        is_valid = isinstance(content, str) and _HASH.fullmatch(content)
        if not is_valid or not isinstance(name, bytes) or status not in _STATUSES:
            raise SessionError(
                f"Image {position} must have a content hash, a name and a status, got "
                f"{content!r:.60}, {name!r:.60} and {status!r:.20}; the session was changed by "
                "another program. Ask for an unchanged copy."
            )


_STATUSES = frozenset({"present", "missing", "broken"})


def check_criterion(criterion: object, n_clusters: object, name: object) -> None:
    """Raise if the folder of a criterion is not a single plain name, or its row is not valid.

    Raises
    ------
    SessionError
    """
    if not isinstance(criterion, str) or not (n_clusters is None or isinstance(n_clusters, int)):
        raise SessionError(
            f"A criterion must have a name and a number of groups, got {criterion!r:.60} and "
            f"{n_clusters!r:.20}; the session was changed by another program. Ask for an unchanged "
            "copy."
        )
    is_plain = isinstance(name, str) and 0 < len(name) <= 255 and not _CONTROL.search(name)
    if not is_plain or str(name).startswith(".") or set(str(name)) & {"/", "\\", ":"}:
        raise SessionError(
            f"The folder of the criterion {criterion!r:.60} must be a plain name, got "
            f"{name!r:.60}; the session was changed by another program. Ask for an unchanged copy."
        )


def path_below(root: Path | str, name: str) -> str:
    """Return the path of an image; raise if it leads out of the image folder.

    Raises
    ------
    ImageError
        If the name is absolute or contains ``..`` and leads out, or the file is a link that does.
    """
    try:
        base = os.path.realpath(root)
        real = os.path.realpath(os.path.join(base, name))
    except ValueError:  # a null byte
        base, real = "/", ""
    if not real or os.path.commonpath([real, base]) != base:
        raise ImageError(
            f"{name!r} is now a link to a file outside of the image folder, or its name leads out "
            "of it, so it is not used; replace it by the image itself."
        )
    return os.path.join(os.fspath(root), name)
