"""No acknowledged answer is lost or doubled, whenever the writer is killed.

``LIKEWISE_KILLS=1000 pytest tests/session/test_kill.py`` kills a thousand times.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import IO

import pytest

from likewise.session import Session

N_KILLS = int(os.environ.get("LIKEWISE_KILLS", "100"))
WRITER = Path(__file__).with_name("writer.py")


def killed_after(
    seconds: float, path: Path, life: int, orders: IO[str], said: IO[str]
) -> list[str]:
    """Start a writer, kill it some time after its first answer; return what it acknowledged."""
    orders.write(f"{path} {life}\n")
    orders.flush()
    lines = {said.readline(), said.readline()}  # its number and its first answer, in any order
    (pid,) = (int(line.split()[1]) for line in lines if line.startswith("pid"))
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    rest = list(iter(said.readline, "dead\n"))
    return [line.strip() for line in [*lines, *rest] if not line.startswith("pid")]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_acknowledged_answer_is_found_once_after_100_kills(path: Path) -> None:
    moments = random.Random(0)
    acknowledged: list[str] = []
    with subprocess.Popen(
        [sys.executable, str(WRITER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writers:
        assert writers.stdin is not None
        assert writers.stdout is not None
        for life in range(N_KILLS):
            seconds = moments.uniform(0, 0.04)
            acknowledged += killed_after(seconds, path, life, writers.stdin, writers.stdout)
        writers.stdin.close()
    with Session.open(path) as session:
        assert session._database.rows("PRAGMA integrity_check") == [("ok",)]
        entries = [entry for entry, _ in session.entries("season") if entry.kind == "pair"]
        found = Counter(f"{entry.id} {entry.who}" for entry in entries)
        assert len(acknowledged) >= N_KILLS
        assert [line for line in acknowledged if found[line] != 1] == []
        # At most the one answer that was on its way when the signal came is there unannounced.
        assert len(entries) - len(acknowledged) <= N_KILLS
        assert len({entry.who for entry in entries}) == len(entries)
        assert session.graph("season").n_answers > 0
        actions = Counter(entry.action for entry, _ in session.entries("season") if entry.action)
        assert set(actions.values()) == {2}  # the entries after the first one: none is missing
