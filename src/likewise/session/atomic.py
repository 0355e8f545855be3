"""Atomic file writes, private permissions, and clear messages for errors of the disk."""

import contextlib
import errno
import os
import secrets
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

from likewise.errors import LikewiseError, SessionBusyError, SessionError
from likewise.operating_system import OPEN_FLAGS

_READ_ONLY = (
    "cannot be written: its disk or folder is read-only for you. Nothing was changed; make it "
    "writable, or copy it to another place."
)
_FULL = (
    "could not be written: the disk is full. Answers acknowledged before are saved; free some "
    "space and repeat the last step."
)
_QUOTA = (
    "could not be written: your disk quota is used up. Answers acknowledged before are "
    "saved; delete some of your files or request a larger quota, and repeat the last step."
)
_TOO_LARGE = (
    "could not be written: the file would exceed the maximum file size (`ulimit -f`, or the "
    "limit of the file system). Answers acknowledged before are saved; raise the limit or use "
    "another disk, and repeat the last step."
)
_DATABASE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened; check that the session folder exists and that you may read and write it."
    ),
    sqlite3.SQLITE_NOTADB: (
        "is not a database: the file was replaced, or its header was overwritten. It was not "
        "changed; rebuild it with `likewise repair SESSION`, or restore a copy."
    ),
    sqlite3.SQLITE_CORRUPT: (
        "is damaged. It was not changed; rebuild it with `likewise repair SESSION`, or restore a "
        "copy."
    ),
    sqlite3.SQLITE_IOERR: (
        "could not be read or written: the disk reports an error. Answers acknowledged before "
        "are saved unless the disk is damaged; check the disk, then repeat the last step."
    ),
    sqlite3.SQLITE_BUSY: (
        "is locked by another program; close that program and repeat the last step."
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


def is_damage(error: BaseException) -> bool:
    """Return whether an error of SQLite means that the database is damaged."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def damage_message(path: Path) -> str:
    """Return the message about a damaged database."""
    return (
        f"{path} is damaged. It was not changed; all answers acknowledged before are in the "
        f"journal: stop this program, then run `likewise repair {path.parent}`."
    )


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Raise SQLite and operating system errors about `path` as `SessionError`."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise_clear(error, path)


def raise_clear(error: sqlite3.Error | OSError, path: Path) -> NoReturn:
    """Raise an error of SQLite or of the operating system about `path` as `SessionError`.

    Programming errors (invalid SQL, a violated CHECK) are raised as they are.
    """
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the primary code
        if code not in _DATABASE:
            raise error
        kind = SessionBusyError if code == sqlite3.SQLITE_BUSY else SessionError
        raise kind(f"{path} {_DATABASE[code]} ({error})") from error
    if isinstance(error, LikewiseError):
        raise error
    reason = _SYSTEM.get(error.errno or 0, "cannot be used; check the path and try again.")
    raise SessionError(f"{path} {reason} ({error.strerror or error})") from error


def write_new(path: Path, write: Callable[[IO[str]], Any]) -> None:
    """Write a new text file; raise if it exists.

    File names that are not valid UTF-8 are written as the bytes they have on disk.
    """
    if path.exists():
        raise SessionError(
            f"{path} already exists and was not overwritten; choose another name, or delete it."
        )

    def write_text(descriptor: int) -> None:
        with open(
            descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="", closefd=False
        ) as stream:
            write(stream)

    write_atomic(path, write_text)


def write_atomic(path: Path, write: Callable[[int], Any]) -> None:
    """Write a temporary file through `write`, then rename it to `path`."""
    with disk_errors(path):
        fresh = hidden_name(path)
        descriptor = create_file(fresh)
        try:
            try:
                write(descriptor)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)  # Windows does not rename a file that is open
            os.replace(fresh, path)
        except BaseException:
            os.unlink(fresh)
            raise


def hidden_name(path: Path) -> Path:
    """Return a new hidden name next to `path`, for a file or folder that is renamed to it."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}")


def create_file(path: Path) -> int:
    """Create a file as private as its folder and return a descriptor; the umask applies, too.

    So a file in a private folder (0700) is private (0600), whatever the umask.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | OPEN_FLAGS
    return os.open(path, flags, permissions_in(path.parent, 0o666))


def make_folder(path: Path) -> None:
    """Create a folder and its parents, each with the permissions of the folder it is in."""
    if path.is_dir():
        return
    if path.exists():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    make_folder(path.parent)
    path.mkdir(mode=permissions_in(path.parent, 0o777), exist_ok=True)


def make_private(folder: Path) -> None:
    """Remove all permissions of other users from a folder and from everything in it.

    Files of other owners are left as they are, as are the targets of links.
    """
    limit_permissions(folder, 0o700)


def limit_permissions(path: Path, mask: int) -> None:
    """Remove all permissions that are not in `mask` from a folder and everything in it."""
    folders = [os.fspath(path)]
    _limit(folders[0], os.lstat(path).st_mode, mask)
    while folders:
        with contextlib.suppress(FileNotFoundError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    continue
                with contextlib.suppress(FileNotFoundError):  # a temporary file of the worker
                    _limit(entry.path, entry.stat(follow_symlinks=False).st_mode, mask)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)


def _limit(path: str, mode: int, mask: int) -> None:
    if stat.S_IMODE(mode) & ~mask:
        with contextlib.suppress(PermissionError):
            os.chmod(path, stat.S_IMODE(mode) & mask)


def permissions_in(folder: Path, limit: int) -> int:
    """Return the permissions of a new file or folder in `folder`; its owner may always write."""
    return limit & (folder.stat().st_mode | 0o700)
