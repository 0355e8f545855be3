"""Kill the server at random moments under three clients; check that no answer is lost or doubled.

``python -m benchmarks.robustness.kill_trials --kills 1000 --seed 0``. One trial in twenty
overwrites the database while the clients answer, one in twenty fills the disk, and one in twenty
runs the whole `likewise start` with its training worker. A full disk needs the right to mount a
tmpfs; without it, the size of files is limited in its place.
"""

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.robustness.clients import Client, check, make_clients, start_clients
from benchmarks.robustness.server_process import CRITERION, ServerProcess, server_process
from benchmarks.synthetic_load_data import keep_vectors, paint
from likewise.embedding.registry import DEFAULT_ENCODER
from likewise.images.files import read_folder
from likewise.session.create import default_session_path, repair
from likewise.session.database import DATABASE
from likewise.session.session import Session

KINDS = ("kill",) * 17 + ("worker", "overwritten", "full")
_N_IMAGES, _N_GROUPS, _N_CLIENTS = 300, 10, 3
_A_SESSION = 100  # trials with one session
_PAGE = 4096  # bytes
_DISK = 48  # megabytes
_WAIT = 120.0  # seconds for the clients to notice that the server has ended
_N_CHECK = 10  # trials between two checks; every damage is checked at once


@dataclass
class Result:
    """What happened in all trials."""

    n_acknowledged: int = 0
    n_resent: int = 0
    n_refused: int = 0
    n_waited: int = 0
    n_lost: int = 0
    n_twice: int = 0
    n_repaired: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self.kinds.items()))
        return (
            f"{self.kinds.total():,} servers killed ({kinds}); {self.n_acknowledged:,} answers "
            f"acknowledged, {self.n_resent:,} sent again after a kill, {self.n_refused:,} requests "
            f"refused, {self.n_waited:,} without a question, {self.n_repaired} databases repaired; "
            f"{self.n_lost} answers lost, {self.n_twice} stored twice"
        )


class Trials:
    """Trials with one session after the other.

    Parameters
    ----------
    directory : Path
        An empty folder; on a disk of its own if `can_fill`.
    seed : int
    can_fill : bool
        Whether the disk may be filled; else the size of files is limited.
    """

    def __init__(self, directory: Path, seed: int, *, can_fill: bool) -> None:
        self._directory, self._random, self._can_fill = directory, random.Random(seed), can_fill
        self.result = Result()

    def run(self, servers: ServerProcess, number: int, kinds: list[str]) -> None:
        """Run trials with one session, and check it."""
        folder = self._directory / f"photos{number}"
        paint(folder, _N_IMAGES, _N_GROUPS)
        session = default_session_path(folder)
        with Session.create(session, read_folder(folder)) as created:
            created.add_criterion(CRITERION, _N_GROUPS)
            images = created.images
            keep_vectors(session, images.hashes, images.names, DEFAULT_ENCODER)
        clients = make_clients(_N_CLIENTS, Client)
        for count, kind in enumerate(kinds):
            self._trial(servers, folder, kind, clients)
            if kind == "overwritten":
                self.result.n_repaired += repair(session).is_changed
            if kind in ("overwritten", "full") or count % _N_CHECK == 0 or kind is kinds[-1]:
                self._check(session, clients)
        self._check(session, clients)
        self.result.n_acknowledged += sum(len(one.acknowledged) for one in clients)
        self.result.n_resent += sum(one.n_resent for one in clients)
        self.result.n_waited += sum(one.n_waited for one in clients)
        self.result.n_refused += sum(one.n_refused for one in clients)

    def _trial(
        self, servers: ServerProcess, folder: Path, kind: str, clients: list[Client]
    ) -> None:
        """Start a server, let the clients answer, damage something, and kill the server."""
        address = servers.start(folder, has_worker=kind == "worker")
        assert address.startswith("http://127.0.0.1:"), f"no address in a trial of kind {kind!r}"
        threads = start_clients(clients, address)
        self._wait(2.0 if kind == "worker" else 0.4)
        with ExitStack() as stack:
            if kind == "overwritten":
                self._overwrite(default_session_path(folder) / DATABASE)
                self._wait(0.2)
            elif kind == "full":
                stack.enter_context(self._full(servers.pid))
                self._wait(0.2)
            os.killpg(servers.pid, signal.SIGKILL)
            for thread in threads:
                thread.join(_WAIT)
                assert not thread.is_alive(), "a client did not notice that the server ended"
            servers.wait()
        self.result.kinds[kind] += 1

    def _wait(self, mean: float) -> None:
        time.sleep(min(self._random.expovariate(1 / mean), 6 * mean))

    def _check(self, session: Path, clients: list[Client]) -> None:
        n_lost, n_twice = check(session, clients)
        self.result.n_lost = max(self.result.n_lost, n_lost)
        self.result.n_twice = max(self.result.n_twice, n_twice)

    def _overwrite(self, database: Path) -> None:
        """Overwrite random pages of the database by random bytes, in place."""
        n_pages = max(1, database.stat().st_size // _PAGE)
        with open(database, "r+b", buffering=0) as file:
            for page in self._random.sample(range(n_pages), self._random.randint(1, n_pages)):
                file.seek(page * _PAGE)
                file.write(self._random.randbytes(_PAGE))

    @contextmanager
    def _full(self, pid: int) -> Iterator[None]:
        """Leave no space on the disk for a while."""
        if not self._can_fill:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
            yield
            return
        ballast = self._directory / "ballast"
        with open(ballast, "wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(1 << self._random.randint(9, 16))):
                pass
        try:
            yield
        finally:
            ballast.unlink()


@contextmanager
def small_disk(directory: Path) -> Iterator[bool]:
    """Mount a small tmpfs on a folder; yield whether that is possible."""
    options = ["-t", "tmpfs", "-o", f"size={_DISK}m", "tmpfs", str(directory)]
    is_mounted = False
    if os.geteuid() == 0:
        is_mounted = subprocess.run(["mount", *options], check=False).returncode == 0
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", str(directory)], check=True)


def kill_trials(
    n_kills: int, seed: int, *, mount: bool = True, kinds: tuple[str, ...] = KINDS
) -> Iterator[Result]:
    """Yield the result so far after each session."""
    order = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        directory = Path(folder)
        can_fill = stack.enter_context(small_disk(directory)) if mount else False
        trials = Trials(directory, seed, can_fill=can_fill)
        servers = stack.enter_context(server_process())
        for number, start in enumerate(range(0, n_kills, _A_SESSION)):
            n = min(_A_SESSION, n_kills - start)
            chosen = [kinds[i % len(kinds)] for i in range(n)]
            order.shuffle(chosen)
            trials.run(servers, number, chosen)
            yield trials.result
            subprocess.run(["rm", "-rf", *directory.glob(f"photos{number}*")], check=True)


def main() -> None:
    """Run the trials of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    begin = time.perf_counter()
    result = Result()
    for result in kill_trials(given.kills, given.seed):
        sys.stdout.write(f"[{time.perf_counter() - begin:5.0f} s] {result}\n")
        sys.stdout.flush()
    sys.exit(bool(result.n_lost or result.n_twice))


if __name__ == "__main__":
    main()
