"""Kill the whole server again and again while a client answers.

``python -m tests.server.kills 25`` says how many answers were acknowledged, and that each of
them is in the log once.
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

from benchmarks.load_test import Caller, right_answer
from benchmarks.speed_page import prepare
from likewise.session import Session

_START = [sys.executable, "-c", "from likewise.cli.main import run; run()", "start"]


@dataclass
class Client:
    """Answers as fast as it can; what it got no reply to it says again to the next server."""

    acknowledged: list[float] = field(default_factory=list)
    n_said: int = 0
    pending: dict[str, Any] | None = None
    n_resent: int = 0

    def answer_until_it_dies(self, address: str) -> None:
        with suppress(OSError, http.client.HTTPException, ValueError):
            call = Caller(address)
            line = call("GET", "/api/questions?n=4&client=ada")["questions"]
            self.n_resent += self.pending is not None
            while True:
                said = self.pending or self._next(line[0])
                self.pending = said
                reply = call("POST", "/api/answers", said)
                self.acknowledged.append(said["seconds"])
                self.pending, line = None, reply["questions"]

    def _next(self, question: dict[str, Any]) -> dict[str, Any]:
        self.n_said += 1  # `seconds` tells one answer from another
        said = {"question": question, "answer": right_answer(question)}
        return {**said, "who": "ada", "client": "ada", "seconds": float(self.n_said)}


def kill_servers(folder: Path, n_kills: int, seed: int = 0) -> Client:
    """Start and kill a server `n_kills` times; return the client that answered meanwhile."""
    client, moments = Client(), random.Random(seed)
    for _ in range(n_kills):
        with subprocess.Popen(
            [*_START, str(folder), "--by", "group", "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # so that the child that learns can be killed with it
        ) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), address
            n_before = len(client.acknowledged)
            thread = Thread(target=client.answer_until_it_dies, args=(address,))
            thread.start()
            _wait_for(lambda n=n_before: len(client.acknowledged) > n)
            time.sleep(moments.uniform(0, 1.5))
            os.killpg(server.pid, signal.SIGKILL)
            thread.join(30)
            assert not thread.is_alive()
    return client


def check(folder: Path, client: Client) -> str:
    """Return what is in the log, in words; every acknowledged answer must be there once."""
    with Session.open(folder.with_suffix(".likewise")) as session:
        assert session._database.rows("PRAGMA integrity_check") == [("ok",)]
        found = Counter(entry.seconds for entry in session.answers("group"))
    lost = [number for number in client.acknowledged if found[number] != 1]
    assert lost == [], f"lost or doubled: {lost}"
    assert max(found.values()) == 1
    n_unheard = found.total() - len(client.acknowledged)
    assert n_unheard <= 1  # the last one may be on disk though nobody heard it
    return (
        f"{len(client.acknowledged)} answers acknowledged, {client.n_resent} said again after a "
        f"kill; {found.total()} in the log, none lost, none doubled"
    )


def _wait_for(is_so: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "no answer was acknowledged"
        time.sleep(0.01)


def main(n_kills: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "photos"
        prepare(folder, 400)
        client = kill_servers(folder, n_kills)
        sys.stdout.write(f"{n_kills} servers killed: {check(folder, client)}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
