"""Response times of the page: 8 clients, 50 answers/s, 60,000 images, during training.

``python -m benchmarks.speed_page --images 60000 --seconds 600``; loopback only. Errors, the time
from an answer to the next question, and the growth of the server's memory are measured.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.load_test import LoadResult, LoadTest
from benchmarks.synthetic_load_data import keep_vectors, paint
from likewise.embedding.registry import DEFAULT_ENCODER
from likewise.errors import LikewiseError
from likewise.images.files import read_folder
from likewise.session.session import Session

LIMIT = 0.03  # seconds, at the 95th percentile
_GROWTH = 0.1  # of the memory of the server, from a fifth of the time on
_BY, _GROUPS = "group", 10
_WARM_UP = 10.0  # seconds until the first groups are there


def page_bench(
    n_images: int = 60_000, seconds: float = 60, n_clients: int = 8, rate: float = 50
) -> Iterator[str]:
    """Yield rows to print: the time from an answer to the next question, and others."""
    with tempfile.TemporaryDirectory(prefix="likewise-page-") as directory:
        folder = Path(directory) / "photos"
        yield f"{n_images:,} images, {n_clients} clients, {rate:g} answers/s for {seconds:g} s"
        prepare(folder, n_images)
        yield machine_load(Path(directory))
        with started(folder) as address:
            LoadTest(address, 1, 5, _WARM_UP).run()
            with MemoryOfChildren() as memory:
                result = LoadTest(address, n_clients, rate, seconds).run()
        yield from rows(result, rate * seconds)
        yield from memory.rows()
        yield _check(folder, result)


def prepare(folder: Path, n_images: int) -> None:
    """Create the folder, and a session with cached embeddings."""
    paint(folder, n_images, _GROUPS)
    with Session.create(folder.with_suffix(".likewise"), read_folder(folder)) as session:
        session.add_criterion(_BY, _GROUPS)
        keep_vectors(session.path, session.images.hashes, session.images.names, DEFAULT_ENCODER)


@contextmanager
def started(folder: Path, by: str = _BY, k: int | None = None) -> Iterator[str]:
    """Run `likewise start` and yield the address that it prints."""
    command = [sys.executable, "-c", "from likewise.cli.main import run; run()", "start"]
    command += [str(folder), "--by", by, "--no-browser", *([] if k is None else ["-k", str(k)])]
    with (
        tempfile.TemporaryFile() as stderr,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            if not address:
                stderr.seek(0)
                output = stderr.read().decode(errors="replace")
                raise LikewiseError(f"`likewise start` ended early: {output[-1000:]}")
            yield address
        finally:
            server.send_signal(signal.SIGINT)
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()


class MemoryOfChildren:
    """The memory of the server (a child of this process) and of its worker, once a second."""

    def __init__(self) -> None:
        self._samples: dict[str, list[float]] = {"server": [], "worker": []}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._stopped = threading.Event()

    def __enter__(self) -> "MemoryOfChildren":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(1):
            with contextlib.suppress(OSError, IndexError):  # a thread or process has just ended
                for server in _children(os.getpid()):
                    self._samples["server"].append(_megabytes(server))
                    self._samples["worker"] += [_megabytes(worker) for worker in _children(server)]

    def rows(self) -> Iterator[str]:
        """Yield the memory after a fifth of the time, in the end, and at most."""
        for name, samples in self._samples.items():
            if len(samples) < 10:
                continue
            tenth = len(samples) // 10
            first, last = np.median(samples[tenth : 3 * tenth]), np.median(samples[-tenth:])
            growth = last / first - 1
            verdict = "" if name == "worker" else ", ok" if growth <= _GROWTH else ", TOO MUCH"
            yield (
                f"memory of the {name}: {first:,.0f} MB after a fifth of the time, {last:,.0f} MB "
                f"in the end ({growth:+.1%}{verdict}), at most {max(samples):,.0f} MB"
            )


def _children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _megabytes(pid: int) -> float:
    """Return the resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 2**10


def machine_load(folder: Path) -> str:
    """Return the load of the machine; an answer takes at least one sync of the disk."""
    seconds = []
    with open(folder / "sync", "wb", buffering=0) as file:
        for _ in range(50):
            file.write(bytes(4096))
            started = time.perf_counter()
            os.fsync(file.fileno())
            seconds.append(time.perf_counter() - started)
    p50, p95 = np.quantile(seconds, [0.5, 0.95])
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, load {load:.1f}; a sync takes p50 {p50:.4f} s, p95 {p95:.4f} s"


def rows(result: LoadResult, n_wanted: float) -> Iterator[str]:
    """Yield the measurements as rows to print."""
    n = len(result.seconds)
    p50, p95, p99 = np.quantile(result.seconds or [np.inf], [0.5, 0.95, 0.99])
    verdict = "ok" if p95 <= LIMIT and not result.errors else "TOO SLOW"
    yield f"answer to next question: p50 {p50:.4f} s, p95 {p95:.4f} s, p99 {p99:.4f} s, {verdict}"
    yield f"{n:,} of {n_wanted:,.0f} answers acknowledged, {len(result.errors)} errors"
    yield from result.errors[:5]
    ran = "yes" if result.is_training or result.n_trained else "NO"
    yield f"training ran meanwhile: {ran}; {result.n_trained} trainings ended"
    for path, seconds in sorted(result.request_seconds.items()):
        middle, most = np.quantile(seconds, [0.5, 0.95])
        yield f"meanwhile {len(seconds):,} x {path}: p50 {middle:.4f} s, p95 {most:.4f} s"


def _check(folder: Path, result: LoadResult) -> str:
    """Check that every acknowledged answer is in the log once."""
    with Session.open(folder.with_suffix(".likewise"), write=False) as session:
        stored = [entry.id for entry, _ in session.entries(_BY) if entry.is_answer]
    lost = set(result.acknowledged) - set(stored)
    n_twice = len(result.acknowledged) - len(set(result.acknowledged))
    return f"in the log: {len(stored):,}; {len(lost)} lost, {n_twice} acknowledged twice"


def main() -> None:
    """Measure with the parameters of the command line."""
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
