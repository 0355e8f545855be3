"""Time and memory to open a session with many answers.

python -m benchmarks.speed_log --images 60000 --answers 1000000 --wrong 0 --undone 0
"""

import argparse
import contextlib
import hashlib
import json
import sys
import tempfile
import time
from pathlib import Path
from subprocess import run

import numpy as np

from likewise.random_streams import stream
from likewise.session.database import create_database
from likewise.session.session import Session

_N_GROUPS, _PART = 10, 20_000
_CRITERION = "group"
_VALUES, _AT = ("different", "same"), "2026-11-19T12:00:00.000Z"
_ADD_ANSWER = """INSERT INTO log (criterion, kind, images, answer, who, at, seconds)
                 VALUES (1, 'pair', ?, ?, 'ada', ?, 1.25)"""
_ADD_RETRACTION = """INSERT INTO log (criterion, kind, retracts, who, at)
                     VALUES (1, 'retract', ?, 'ada', ?)"""


def make_session(
    path: Path, n_images: int, n_answers: int, *, wrong: float = 0, undone: float = 0
) -> None:
    """Write a session with answers to random pairs of images of ten groups.

    Parameters
    ----------
    path : Path
    n_images, n_answers : int
    wrong, undone : float
        The share of answers that are wrong, and that are retracted by the next entry.
    """
    rng = stream(0, "large log")
    groups = rng.integers(_N_GROUPS, size=n_images)
    hashes = [hashlib.sha256(b"%d" % number).hexdigest() for number in range(n_images)]
    path.mkdir(mode=0o700)
    create_database(path)
    with Session.open(path) as session:
        session.add_criterion(_CRITERION, _N_GROUPS)
        database = session._database
        images = [(i, h, b"%d.png" % i, "present", None, None) for i, h in enumerate(hashes)]
        with database.transaction(images) as db:
            db.executemany("INSERT INTO image VALUES (?, ?, ?, ?, ?, ?)", images)
        for start in range(0, n_answers, _PART):
            n = min(_PART, n_answers - start)
            first = rng.integers(n_images, size=n)
            second = (first + rng.integers(1, n_images, size=n)) % n_images
            is_same = (groups[first] == groups[second]) ^ (rng.random(n) < wrong)
            pairs = np.sort(np.stack([first, second], axis=1), axis=1).tolist()
            with database.transaction() as db:
                for (a, b), same, retract in zip(
                    pairs, is_same.tolist(), (rng.random(n) < undone).tolist(), strict=True
                ):
                    answer = (json.dumps([hashes[a], hashes[b]]), _VALUES[same], _AT)
                    number = db.execute(_ADD_ANSWER, answer).lastrowid
                    if retract:
                        db.execute(_ADD_RETRACTION, (number, _AT))


def open_session(path: Path) -> None:
    """Print processor time and memory of opening a session, and of the steps after it."""
    from likewise.operating_system import peak_memory

    before, start = peak_memory() or 0, time.process_time()
    with contextlib.ExitStack() as stack:
        session = stack.enter_context(Session.open(path))
        opened = time.process_time()
        graph = session.graph(_CRITERION)
        n_conflicts = len(graph.conflicts)
        replayed = time.process_time()
        peak = peak_memory() or 0
        print(
            f"{len(graph.answers):,} answers, {n_conflicts:,} conflicts: opened in "
            f"{opened - start:.2f} s, replayed in {replayed - opened:.2f} s of processor time, "
            f"peak {peak / 2**20:.0f} MB ({before / 2**20:.0f} MB before)"
        )


def main() -> None:
    """Make a session in a temporary folder and open it in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=60_000)
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--wrong", type=float, default=0)
    parser.add_argument("--undone", type=float, default=0)
    parser.add_argument("--session", type=Path, help="made if missing, and kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.session or Path(folder, "large.likewise")
        if not path.exists():
            make_session(
                path, options.images, options.answers, wrong=options.wrong, undone=options.undone
            )
        code = f"from benchmarks.speed_log import *; open_session(Path({str(path)!r}))"
        run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    main()
