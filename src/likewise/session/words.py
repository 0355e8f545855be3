"""What can go wrong with a session on disk, in words."""

import contextlib
import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from likewise.errors import LikewiseError, SessionBusyError, SessionError

_READ_ONLY = (
    "cannot be written: its disk or folder is read-only for you. Nothing was changed; make it "
    "writable, or copy it to another place."
)
_FULL = (
    "could not be written: the disk is full. What was acknowledged before is safe; free some "
    "space and do the last step again."
)
_QUOTA = (
    "could not be written: your share of this disk (the quota) is used up. What was acknowledged "
    "before is safe; remove some of your files or ask for a larger share, and do the last step "
    "again."
)
_TOO_LARGE = (
    "could not be written: the file would be larger than a file may be here (`ulimit -f`, or the "
    "kind of disk). What was acknowledged before is safe; raise that limit or use another disk, "
    "and do the last step again."
)
_DATABASE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened; check that the session folder is there and that you may read and "
        "write it."
    ),
    sqlite3.SQLITE_NOTADB: (
        "is not a database: another file took its place, or its beginning was overwritten. It was "
        "left as it is; put back a copy of the file, or begin a new session."
    ),
    sqlite3.SQLITE_CORRUPT: (
        "is damaged. It was left as it is; copy it to a safe place, then put back an older copy, "
        "or save what is readable with `sqlite3 session.sqlite3 .recover`."
    ),
    sqlite3.SQLITE_IOERR: (
        "could not be read or written: the disk reports an error. What was acknowledged before "
        "is safe if the disk is; check the disk, then do the last step again."
    ),
    sqlite3.SQLITE_BUSY: (
        "is locked by another program that has it open; close that program and do the last step "
        "again."
    ),
}
_SYSTEM = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _QUOTA,
    errno.EFBIG: _TOO_LARGE,
    errno.EROFS: _READ_ONLY,
    errno.EACCES: _READ_ONLY,
    errno.EPERM: _READ_ONLY,
}


@contextlib.contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system report about `path` into a `SessionError`.

    Mistakes of ours (bad SQL, a broken CHECK) pass as they are: they are bugs.
    """
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind
        if code not in _DATABASE:
            raise
        kind = SessionBusyError if code == sqlite3.SQLITE_BUSY else SessionError
        raise kind(f"{path} {_DATABASE[code]} ({error})") from error
    except LikewiseError:
        raise
    except OSError as error:
        reason = _SYSTEM.get(error.errno or 0, "cannot be used; check the path and try again.")
        raise SessionError(f"{path} {reason} ({error.strerror or error})") from error
