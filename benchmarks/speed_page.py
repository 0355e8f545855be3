"""How fast the page is: eight people, fifty answers a second, sixty thousand pictures, training.

``python -m benchmarks.speed_page --images 60000 --seconds 60``; loopback only.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.load_test import LoadTest, Seen
from benchmarks.synthetic_load_data import keep_vectors, paint
from likewise.embedding.registry import DEFAULT
from likewise.errors import LikewiseError
from likewise.images.files import read_folder
from likewise.session.session import Session

LIMIT = 0.05  # seconds, at the 95th percentile
_BY, _GROUPS = "group", 10
_WARM_UP = 10.0  # seconds: the first groups are to be there


def page_bench(
    n_images: int = 60_000, seconds: float = 60, n_clients: int = 8, rate: float = 50
) -> Iterator[str]:
    """Yield printed rows: how long an answer took until the next question was there."""
    with tempfile.TemporaryDirectory(prefix="likewise-page-") as place:
        folder = Path(place) / "photos"
        yield f"{n_images:,} pictures, {n_clients} clients, {rate:g} answers/s for {seconds:g} s"
        prepare(folder, n_images)
        yield surroundings(Path(place))
        with started(folder) as address:
            LoadTest(address, 1, 5, _WARM_UP).run()
            seen = LoadTest(address, n_clients, rate, seconds).run()
        yield from rows(seen, rate * seconds)
        yield _check(folder, seen)


def prepare(folder: Path, n_images: int) -> None:
    """Make the folder and a session whose vectors are there."""
    paint(folder, n_images, _GROUPS)
    with Session.create(folder.with_suffix(".likewise"), read_folder(folder)) as session:
        session.add_criterion(_BY, _GROUPS)
        keep_vectors(session.path, session.images.hashes, session.images.names, DEFAULT)


@contextmanager
def started(folder: Path) -> Iterator[str]:
    """RunSpec `likewise start` and yield the address it prints; it is ended in the end."""
    command = [sys.executable, "-c", "from likewise.cli.main import run; run()", "start"]
    command += [str(folder), "--by", _BY, "--no-browser"]
    with (
        tempfile.TemporaryFile() as complaints,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints, text=True) as server,
    ):
        try:
            assert server.stdout is not None  # a pipe was asked for
            address = server.stdout.readline().strip()
            if not address:
                complaints.seek(0)
                said = complaints.read().decode(errors="replace")
                raise LikewiseError(f"`likewise start` ended at once; it said: {said[-1000:]}")
            yield address
        finally:
            server.send_signal(signal.SIGINT)
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()


def surroundings(folder: Path) -> str:
    """Say how busy the machine is: an answer cannot be quicker than one sync of the disk."""
    seconds = []
    with open(folder / "sync", "wb", buffering=0) as file:
        for _ in range(50):
            file.write(bytes(4096))
            begin = time.perf_counter()
            os.fsync(file.fileno())
            seconds.append(time.perf_counter() - begin)
    p50, p95 = np.quantile(seconds, [0.5, 0.95])
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, load {load:.1f}; a sync takes p50 {p50:.4f} s, p95 {p95:.4f} s"


def rows(seen: Seen, n_wanted: float) -> Iterator[str]:
    """Yield what a crowd saw, in words."""
    n = len(seen.seconds)
    p50, p95, p99 = np.quantile(seen.seconds or [np.inf], [0.5, 0.95, 0.99])
    verdict = "ok" if p95 <= LIMIT and not seen.errors else "TOO SLOW"
    yield f"answer to next question: p50 {p50:.4f} s, p95 {p95:.4f} s, p99 {p99:.4f} s, {verdict}"
    yield f"{n:,} of {n_wanted:,.0f} answers acknowledged, {len(seen.errors)} errors"
    yield from seen.errors[:5]
    ran = "yes" if seen.is_training or seen.n_trained else "NO"
    yield f"training ran meanwhile: {ran}; it was finished {seen.n_trained} times"
    for path, seconds in sorted(seen.looks.items()):
        middle, most = np.quantile(seconds, [0.5, 0.95])
        yield f"beside it {len(seconds):,} x {path}: p50 {middle:.4f} s, p95 {most:.4f} s"


def _check(folder: Path, seen: Seen) -> str:
    """Say whether every answer that was acknowledged is in the log once."""
    with Session.open(folder.with_suffix(".likewise"), write=False) as session:
        kept = [entry.id for entry, _ in session.entries(_BY) if entry.is_answer]
    lost = set(seen.acknowledged) - set(kept)
    n_twice = len(seen.acknowledged) - len(set(seen.acknowledged))
    return f"in the log: {len(kept):,}; {len(lost)} lost, {n_twice} acknowledged twice"


def main() -> None:
    """Measure with the numbers on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=60_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rate", type=float, default=50)
    given = parser.parse_args()
    began = time.perf_counter()
    for row in page_bench(given.images, given.seconds, given.clients, given.rate):
        sys.stdout.write(f"[{time.perf_counter() - began:5.1f}] {row}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
