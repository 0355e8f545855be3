"""Worker: starts the training process, restarts it when it ends, exchanges messages with it."""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from likewise.operating_system import KILLED
from likewise.workspace.worker_process import (
    MAX_REASON,
    Message,
    decode_message,
    describe_error,
    encode_message,
)

_MIN_WAIT, _MAX_WAIT = 0.5, 60.0  # seconds before a process that ended is started again
_STABLE_SECONDS = 300.0  # a process that ran longer is started again after `_MIN_WAIT`
_OUT_OF_MEMORY = "close other programs, or group fewer images at a time"
_OTHER_CAUSE = (
    "stop `likewise start` with Ctrl+C and start it again; if that does not help, report the error "
    "in parentheses"
)
_ERROR = re.compile(r"(Fatal Python error: |[\w.]*(Error|Exception|Interrupt)\b)")


class Worker:
    """A supervised process that embeds images, trains, and selects questions.

    Parameters
    ----------
    session : Path
    encoder : str
    receive : callable
        Called with every message, from the worker's own thread. After the process has ended, that
        is ``{"event": "worker_exited", "reason": ..., "message": ..., "was_ready": ...}``: the
        cause in one line, the text to show, and whether the process had reported to be ready.

    Notes
    -----
    A single thread starts the process, reads its messages and restarts it: on Linux the process
    is killed when the thread that started it ends.
    """

    def __init__(self, session: Path, encoder: str, receive: Callable[[Message], None]) -> None:
        module = "likewise.workspace.worker_process"
        self._command = [sys.executable, "-m", module, str(session), encoder]
        self._receive = receive
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._supervise, name="worker", daemon=True)

    def start(self) -> None:
        """Start the process and return at once."""
        self._thread.start()

    def send(self, message: Message) -> None:
        """Send a message; it is lost if the process is not running.

        This is safe: after every start the process reports that it is ready.
        """
        with self._lock, contextlib.suppress(OSError, ValueError):
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.write(encode_message(message))
                self._process.stdin.flush()

    def stop(self) -> None:
        """Kill the process; everything it has not saved can be computed again."""
        self._stopping.set()
        with self._lock:
            if self._process is not None:
                self._process.kill()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=10)

    @property
    def pid(self) -> int | None:
        """Return the process id, None if the process is not running."""
        return None if self._process is None else self._process.pid

    def _supervise(self) -> None:
        wait = _MIN_WAIT / 2
        while not self._stopping.is_set():
            started = time.monotonic()
            end = self._run_once()
            if self._stopping.is_set():
                return
            is_stable = time.monotonic() - started > _STABLE_SECONDS
            wait = _MIN_WAIT if is_stable else min(2 * wait, _MAX_WAIT)
            self._receive(end.message(wait))
            self._stopping.wait(wait)

    def _run_once(self) -> "WorkerEnd":
        """Run the process until it ends."""
        with tempfile.TemporaryFile() as stderr:
            try:
                process = self._start_process(stderr)
            except OSError as error:  # of memory, or of file descriptors
                return WorkerEnd(describe_error(error), was_ready=False)
            reason, was_ready = "", False
            assert process.stdout is not None  # because of stdout=PIPE
            for line in process.stdout:
                message = decode_message(line)
                if message is not None and message.get("event") == "failed":
                    reason = str(message.get("reason"))
                elif message is not None and not reason:
                    was_ready = was_ready or message.get("event") == "ready"
                    reason = self._deliver(message)
            status = process.wait()
            with self._lock:
                self._process = None
                for pipe in (process.stdin, process.stdout):
                    if pipe is not None:
                        with contextlib.suppress(OSError):
                            pipe.close()
            return WorkerEnd(reason or _reason(status, stderr), was_ready=was_ready)

    def _deliver(self, message: Message) -> str:
        """Pass on a message; if that fails, kill the process and return the reason, else ""."""
        try:
            self._receive(message)
        except Exception as error:
            with self._lock:
                if self._process is not None:
                    self._process.kill()
            return describe_error(error)
        return ""

    def _start_process(self, stderr: IO[bytes]) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},  # waiting threads must not spin
        )
        with self._lock:
            self._process = process
        if self._stopping.is_set():
            process.kill()
        return process


@dataclass(frozen=True)
class WorkerEnd:
    """Why the process ended, and whether it had reported to be ready."""

    reason: str
    was_ready: bool

    def message(self, pause: float) -> Message:
        """Return the message to show; the process is restarted after `pause` seconds."""
        is_memory = any(word in self.reason for word in ("MemoryError", "killed", "allocate"))
        text = (
            f"The training process ended ({self.reason}) and is restarted in {pause:.0f} s; "
            "all answers are saved. If this message persists, "
            f"{_OUT_OF_MEMORY if is_memory else _OTHER_CAUSE}."
        )
        return {
            "event": "worker_exited",
            "reason": self.reason,
            "message": text,
            "was_ready": self.was_ready,
        }


def _reason(status: int, stderr: IO[bytes]) -> str:
    """Return in one line why a process ended that did not report a reason."""
    if status == KILLED:
        return "it was killed"
    if status < 0:
        return f"it was ended by signal {-status}"
    stderr.seek(0)
    lines = stderr.read().decode("utf-8", "replace").splitlines()
    errors = [line.strip() for line in lines if _ERROR.match(line)]
    return (errors or [f"it ended with status {status}"])[-1][:MAX_REASON]
