"""Servers that are forked from one process with all imports, so that each start is fast.

``python -m benchmarks.robustness.server_process`` reads lines ``FOLDER with|without`` from stdin.
For each it forks a process that serves the session of the folder, with or without a training
worker, and prints ``pid N``, the address of the page, and ``ended`` when the process has ended.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from likewise.cli.main import run
from likewise.errors import LikewiseError
from likewise.server.app import create_app
from likewise.server.launcher import Launcher
from likewise.server.serve import PageAddress, bind, choose_token, serve
from likewise.session.create import default_session_path
from likewise.session.session import Session
from likewise.workspace.workspace import Workspace

CRITERION = "group"


class ServerProcess:
    """Starts one server after the other; use `server_process`."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process, self.pid = process, 0

    def start(self, folder: Path, *, has_worker: bool) -> str:
        """Start a server; return its address, or "" if it ended before it printed one."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{folder} {'with' if has_worker else 'without'}\n")
        self._process.stdin.flush()
        self.pid = int(self._line().removeprefix("pid "))
        line = self._line()
        return "" if line == "ended" else line

    def wait(self) -> None:
        """Wait until the server has ended."""
        while self._line() != "ended":
            pass

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise LikewiseError("the process that starts the servers has ended")
        return line.strip()


@contextmanager
def server_process(environment: Mapping[str, str] | None = None) -> Iterator[ServerProcess]:
    """Run the process that starts servers, with additional variables of the environment."""
    command = [sys.executable, "-m", "benchmarks.robustness.server_process"]
    with (
        tempfile.TemporaryDirectory() as state,  # for the list of recent sessions
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "XDG_STATE_HOME": state, **(environment or {})},
        ) as process,
    ):
        try:
            yield ServerProcess(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)


def _serve(folder: str, workers: str) -> None:
    """Serve one session until this process is killed."""
    os.setsid()  # so that it is killed together with its worker
    if workers == "with":
        sys.argv = ["likewise", "start", folder, "--by", CRITERION, "--no-browser"]
        run()
        return
    session = Session.open(default_session_path(Path(folder)))
    token = choose_token(None, keep=False)
    with bind("127.0.0.1", 0) as bound, Workspace(session, has_worker=False) as workspace:
        address = PageAddress("127.0.0.1", bound.getsockname()[1], token)
        app = create_app(workspace, token, launcher=Launcher([Path(folder)]))
        serve(app, bound, lambda: _print(address.url))


def _print(text: str) -> None:
    os.write(1, f"{text}\n".encode())  # one call, so that no half of a line is written


def main() -> None:
    """Fork a server for each line on stdin."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _print(f"pid {os.getpid()}")
            try:
                _serve(*line.split())
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        _print("ended")


if __name__ == "__main__":
    main()
