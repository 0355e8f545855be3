"""Kill the server repeatedly while a client answers, and check the answer log.

``python -m tests.server.kill_server 25`` prints how many answers were acknowledged; each of them
must be in the log once.
"""

import http.client
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

from benchmarks.load_test import ApiClient, right_answer
from benchmarks.speed_page import prepare
from likewise.session import Session

_START = [sys.executable, "-c", "from likewise.cli.main import run; run()", "start"]


@dataclass
class Client:
    """Answers without pause; an answer without a response is sent again to the next server."""

    acknowledged: list[float] = field(default_factory=list)
    n_sent: int = 0
    pending: dict[str, Any] | None = None
    n_resent: int = 0

    def answer_until_killed(self, address: str) -> None:
        """Answer the questions of one server until the connection fails."""
        with suppress(OSError, http.client.HTTPException, ValueError):
            call = ApiClient(address)
            questions = call("GET", "/api/questions?n=4&client=ada")["questions"]
            self.n_resent += self.pending is not None
            while True:
                self.pending = self.pending or self._next(questions[0])
                reply = call("POST", "/api/answers", self.pending)
                self.acknowledged.append(self.pending["seconds"])
                self.pending, questions = None, reply["questions"]

    def _next(self, question: dict[str, Any]) -> dict[str, Any]:
        self.n_sent += 1  # stored as `seconds`, which identifies the answer
        body = {"question": question, "answer": right_answer(question)}
        return {**body, "who": "ada", "client": "ada", "seconds": float(self.n_sent)}


def kill_servers(folder: Path, n_kills: int, seed: int = 0) -> Client:
    """Start and kill a server `n_kills` times; return the client that answered meanwhile."""
    client, delays = Client(), random.Random(seed)
    for _ in range(n_kills):
        with subprocess.Popen(
            [*_START, str(folder), "--by", "group", "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # to kill the worker process too
        ) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), address
            n_before = len(client.acknowledged)
            thread = Thread(target=client.answer_until_killed, args=(address,))
            thread.start()
            _wait_for_answers(client, n_before + 1)
            time.sleep(delays.uniform(0, 1.5))
            os.killpg(server.pid, signal.SIGKILL)
            thread.join(30)
            assert not thread.is_alive()
    return client


def check(folder: Path, client: Client) -> str:
    """Check that every acknowledged answer is in the log once; return a summary."""
    with Session.open(folder.with_suffix(".likewise")) as session:
        assert session._database.rows("PRAGMA integrity_check") == [("ok",)]
        found = Counter(entry.seconds for entry in session.answers("group"))
    wrong = [number for number in client.acknowledged if found[number] != 1]
    assert wrong == [], f"lost or stored twice: {wrong}"
    assert max(found.values()) == 1
    n_unacknowledged = found.total() - len(client.acknowledged)
    assert n_unacknowledged <= 1  # the last one may be on disk without a response
    return (
        f"{len(client.acknowledged)} answers acknowledged, {client.n_resent} sent again after a "
        f"kill; {found.total()} in the log, none lost, none stored twice"
    )


def _wait_for_answers(client: Client, n: int, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while len(client.acknowledged) < n:
        assert time.monotonic() < end, "no answer was acknowledged"
        time.sleep(0.01)


def main(n_kills: int) -> None:
    """Kill `n_kills` servers of a session with 400 images and print the result."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory) / "photos"
        prepare(folder, 400)
        client = kill_servers(folder, n_kills)
        sys.stdout.write(f"{n_kills} servers killed: {check(folder, client)}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
