"""The trainer's parent side: a child process that learns, started again when it dies."""

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from likewise.desk.messages import Message, pack, unpack

_LONGEST_WAIT = 30.0  # seconds before a child that keeps dying is tried again


class Trainer:
    """A child process that embeds, trains and asks; whoever made it hears what it says.

    Parameters
    ----------
    session : Path
    encoder : str
    hear : callable
        Called with every message, from a thread of the trainer's own. Beside what the child
        says there is ``{"event": "died", "reason": ...}``.

    Notes
    -----
    One thread starts the child, reads from it and starts it again: the child asks the system
    to be killed with the thread that made it.
    """

    def __init__(self, session: Path, encoder: str, hear: Callable[[Message], None]) -> None:
        self._command = [sys.executable, "-m", "likewise.desk.child", str(session), encoder]
        self._hear = hear
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._supervise, name="trainer", daemon=True)

    def start(self) -> None:
        """Start the child; returns at once."""
        self._thread.start()

    def ask(self, message: Message) -> None:
        """Tell the child something; lost if it is dead, and it says hello when it is not."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            if self._child is not None and self._child.stdin is not None:
                self._child.stdin.write(pack(message))
                self._child.stdin.flush()

    def stop(self) -> None:
        """End the child; what it has not written is only time lost."""
        self._stopping.set()
        with self._lock:
            if self._child is not None:
                self._child.kill()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=10)

    @property
    def pid(self) -> int | None:
        """Return the child's process id, if there is one."""
        return None if self._child is None else self._child.pid

    def _supervise(self) -> None:
        wait = 0.5
        while not self._stopping.is_set():
            with tempfile.TemporaryFile() as complaints:
                said_something = self._live_once(complaints)
                reason = _last_line(complaints)
            if self._stopping.is_set():
                return
            self._hear({"event": "died", "reason": reason})
            wait = 0.5 if said_something else min(2 * wait, _LONGEST_WAIT)
            self._stopping.wait(wait)

    def _live_once(self, complaints: IO[bytes]) -> bool:
        """Run one child to its end; return whether it came so far as to be ready."""
        child = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},  # threads that wait must not spin
        )
        with self._lock:
            self._child = child
        if self._stopping.is_set():
            child.kill()
        was_ready = False
        assert child.stdout is not None  # a pipe was asked for
        for line in child.stdout:
            message = unpack(line)
            if message is not None:
                was_ready = was_ready or message.get("event") == "ready"
                self._hear(message)
        child.wait()
        with self._lock:
            self._child = None
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        return was_ready


def _last_line(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    lines = complaints.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it was killed"
