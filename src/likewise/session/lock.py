"""One writer at a time: a lock that dies with the process that holds it."""

import contextlib
import fcntl
import os
import weakref
from pathlib import Path

from likewise.errors import SessionBusyError

PID_FILE = "writer.pid"  # for the message only; the lock is on the folder itself


class WriterLock:
    """Held from construction until `release`, or until the process ends in any way.

    The folder is locked, not a file in it, so that there is nothing a person
    could tidy away while somebody is writing.

    Raises
    ------
    SessionBusyError
        If another process, or this one, is already writing to the session.
    """

    def __init__(self, folder: Path) -> None:
        self._pid_file = folder / PID_FILE
        self._descriptor: int | None = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._forget()
            raise SessionBusyError(_busy(folder)) from None
        try:
            self._pid_file.write_text(f"{os.getpid()}\n", encoding="ascii")
        except OSError:
            self._forget()
            raise
        _HELD.add(self)

    def release(self) -> None:
        """Let the next one in; more than once does no harm."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):  # the folder may be gone by now
                self._pid_file.unlink()
            self._forget()

    def _forget(self) -> None:
        """Close our descriptor and leave everything else as it is."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


_HELD: "weakref.WeakSet[WriterLock]" = weakref.WeakSet()


def _let_go_in_a_fork() -> None:
    """Keep a forked child from holding the lock on after its parent died."""
    for lock in list(_HELD):
        lock._forget()
    _HELD.clear()


os.register_at_fork(after_in_child=_let_go_in_a_fork)


def _busy(folder: Path) -> str:
    """Say who is writing, as far as we know."""
    try:
        pid = int((folder / PID_FILE).read_text(encoding="ascii"))
    except (OSError, ValueError):
        who = "another process"
    else:
        who = "this very process" if pid == os.getpid() else f"another process (pid {pid})"
    return (
        f"{folder} is being written to by {who}; close it there first (a page or a command ends "
        "with Ctrl+C)."
    )
