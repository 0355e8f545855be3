"""The training worker, from the parent's side: start the process, restart it, exchange messages."""

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from likewise.workspace.worker_process import Message, decode_message, encode_message

_MIN_WAIT, _MAX_WAIT = 0.5, 30.0  # seconds before a process that ended is started again


class Worker:
    """A supervised process that embeds images, trains, and selects questions.

    Parameters
    ----------
    session : Path
    encoder : str
    receive : callable
        Called with every message, from the worker's own thread. After the process has ended, that
        is ``{"event": "worker_exited", "reason": ...}``.

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

        No harm is done: after every start the process reports that it is ready.
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
        wait = _MIN_WAIT
        while not self._stopping.is_set():
            with tempfile.TemporaryFile() as stderr:
                was_ready = self._run_once(stderr)
                reason = _last_line(stderr)
            if self._stopping.is_set():
                return
            self._receive({"event": "worker_exited", "reason": reason})
            wait = _MIN_WAIT if was_ready else min(2 * wait, _MAX_WAIT)
            self._stopping.wait(wait)

    def _run_once(self, stderr: IO[bytes]) -> bool:
        """Run the process until it ends; return whether it reported that it was ready."""
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
        was_ready = False
        assert process.stdout is not None  # because of stdout=PIPE
        for line in process.stdout:
            message = decode_message(line)
            if message is not None:
                was_ready = was_ready or message.get("event") == "ready"
                self._receive(message)
        process.wait()
        with self._lock:
            self._process = None
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        return was_ready


def _last_line(stderr: IO[bytes]) -> str:
    stderr.seek(0)
    lines = stderr.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it was killed"
