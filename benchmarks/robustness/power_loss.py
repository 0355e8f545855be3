"""Power loss: what a disk may contain when the power fails while clients answer.

``python -m benchmarks.robustness.power_loss --trials 200 --seed 0``. The server runs with a library
(``record_writes.c``, needs a C compiler) that records all its writes. Each trial cuts the record at
a random moment and builds a folder of everything that was synced before, and of a random part of
the rest: single sectors, whole writes, or none. It must contain every answer that had been
acknowledged at that moment, once.
"""

import argparse
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.robustness.clients import Client, check, make_clients, start_clients
from benchmarks.robustness.server_process import CRITERION, server_process
from benchmarks.synthetic_load_data import paint
from likewise.errors import SessionError
from likewise.images.files import read_folder
from likewise.session.create import default_session_path, repair
from likewise.session.session import Session

_SOURCE = Path(__file__).with_name("record_writes.c")
_HEAD = struct.Struct("<IIQQIIII")
_MAGIC = 0x4C4B5745
WRITE, TRUNCATE, SYNC, CREATE, RENAME, UNLINK, MKDIR = range(1, 8)
_SECTOR = 512  # bytes that a disk writes as a whole
_N_IMAGES, _N_GROUPS, _N_CLIENTS = 300, 10, 3
_SECONDS = 2.0  # of answers that are recorded
_A_RECORD = 20  # trials with one record


@dataclass(frozen=True)
class Operation:
    """One change of a file; `end` is where its record ends in the trace."""

    kind: int
    inode: int
    offset: int
    path: str
    second: str
    data: bytes
    end: int


@dataclass
class Disk:
    """The files of one folder, and which changes of them may be lost.

    Parameters
    ----------
    folder : Path
        A copy of the files before the first change, all of which are on the disk.
    original : str
        The path of the folder in the trace.
    """

    folder: Path
    original: str
    pending: dict[int, list[Operation]] = field(default_factory=lambda: defaultdict(list))
    content: dict[int, bytearray] = field(default_factory=dict)  # by inode
    names: dict[str, int] = field(default_factory=dict)  # on the disk: path -> inode
    later_names: list[Operation] = field(default_factory=list)  # not synced, in order

    def load(self, inodes: dict[str, int]) -> None:
        """Read the files of `folder`; `inodes` are those that the trace uses."""
        for name, inode in inodes.items():
            path = self.folder / name
            if path.is_file():
                self.names[f"{self.original}/{name}"] = inode
                self.content[inode] = bytearray(path.read_bytes())

    def apply(self, operation: Operation, *, ignores_sync: bool = False) -> None:
        """Record one operation; with `ignores_sync`, syncs have no effect."""
        if operation.kind in (WRITE, TRUNCATE):
            self.pending[operation.inode].append(operation)
        elif operation.kind != SYNC:
            self.later_names.append(operation)
        elif not ignores_sync:
            self._sync(operation)

    def _sync(self, operation: Operation) -> None:
        """Write a file with its name, or the names in a folder, to the disk."""
        for change in self.pending.pop(operation.inode, []):
            self._write(change, change.data)
        kept = []
        for change in self.later_names:
            target = change.second or change.path
            is_own_name = change.kind == CREATE and change.inode == operation.inode
            if is_own_name or os.path.dirname(target) == operation.path:
                self._rename(change)
            else:
                kept.append(change)
        self.later_names = kept

    def fail(self, chance: random.Random) -> None:
        """Lose a random part of what was not synced."""
        share = chance.choice([0.0, 0.5, 1.0, chance.random()])
        for changes in self.pending.values():
            for change in changes:
                if chance.random() < share:
                    self._write(change, _torn(change.data, chance))
        for change in self.later_names[: chance.randint(0, len(self.later_names))]:
            self._rename(change)

    def _write(self, change: Operation, data: bytes) -> None:
        content = self.content.setdefault(change.inode, bytearray())
        if change.kind == TRUNCATE:
            del content[change.offset :]
            content.extend(bytes(change.offset - len(content)))
            return
        content.extend(bytes(max(0, change.offset - len(content))))
        content[change.offset : change.offset + len(data)] = data

    def _rename(self, change: Operation) -> None:
        if change.kind == RENAME:
            self.names.pop(change.path, None)
            self.names[change.second] = change.inode
        elif change.kind == UNLINK:
            self.names.pop(change.path, None)
        elif change.kind == CREATE:
            self.names[change.path] = change.inode

    def write(self, target: Path) -> None:
        """Write the files to a new folder."""
        for folder in ("", *(str(p.relative_to(self.folder)) for p in self.folder.rglob("*/"))):
            (target / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        for path, inode in self.names.items():
            file = target / os.path.relpath(path, self.original)
            if file.parent.is_dir():
                file.write_bytes(self.content.get(inode, b""))


def _torn(data: bytes, chance: random.Random) -> bytes:
    """Return the first sectors of a write, or all of it."""
    if chance.random() < 0.5:
        return data
    return data[: chance.randint(0, len(data) // _SECTOR) * _SECTOR]


def read_trace(path: Path) -> list[Operation]:
    """Return the operations in a trace, in order."""
    found, at, trace = [], 0, path.read_bytes()
    while at + _HEAD.size <= len(trace):
        magic, kind, inode, offset, n_path, n_second, n_data, _ = _HEAD.unpack_from(trace, at)
        at += _HEAD.size
        assert magic == _MAGIC
        ends = (at + n_path, at + n_path + n_second, at + n_path + n_second + n_data)
        texts = os.fsdecode(trace[at : ends[0]]), os.fsdecode(trace[ends[0] : ends[1]])
        found.append(Operation(kind, inode, offset, *texts, trace[ends[1] : ends[2]], ends[2]))
        at = ends[2]
    return found


@dataclass
class TracedClient(Client):
    """A client that notes how long the trace was when an answer was acknowledged."""

    trace: Path = Path()
    lengths: list[int] = field(default_factory=list)

    def note(self) -> None:
        """Note the length of the trace."""
        self.lengths.append(self.trace.stat().st_size)


@dataclass
class Record:
    """A session before it was changed, the trace of the changes, and the clients."""

    before: Path
    session: Path
    inodes: dict[str, int]
    operations: list[Operation]
    clients: Sequence[TracedClient]


def compile_library(folder: Path) -> Path:
    """Compile the library that records writes."""
    library = folder / "record_writes.so"
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-lpthread"]
    subprocess.run(command, check=True)
    return library


def record(directory: Path, library: Path, seconds: float = _SECONDS) -> Record:
    """Let clients answer for a while, kill the server, and return what it wrote."""
    folder = directory / "photos"
    paint(folder, _N_IMAGES, _N_GROUPS)
    session, trace = default_session_path(folder), directory / "trace"
    with Session.create(session, read_folder(folder)) as created:
        created.add_criterion(CRITERION, _N_GROUPS)
    before = directory / "before"
    shutil.copytree(session, before)
    files = [path for path in session.rglob("*") if path.is_file()]
    inodes = {str(path.relative_to(session)): path.stat().st_ino for path in files}
    clients = make_clients(_N_CLIENTS, TracedClient)
    for client in clients:
        client.trace = trace
    preload = {"LD_PRELOAD": str(library), "RECORD_FOLDER": str(session)}
    with server_process({**preload, "RECORD_TRACE": str(trace)}) as servers:
        threads = start_clients(clients, servers.start(folder, has_worker=False))
        time.sleep(seconds)
        os.killpg(servers.pid, signal.SIGKILL)
        for thread in threads:
            thread.join()
        servers.wait()
    return Record(before, session, inodes, read_trace(trace), clients)


def lose_power(recorded: Record, target: Path, chance: random.Random, *, ignores_sync: bool) -> int:
    """Write what is on the disk after a power loss; return where in the trace it happened."""
    disk = Disk(recorded.before, str(recorded.session))
    disk.load(recorded.inodes)
    n = chance.randint(1, len(recorded.operations))
    for operation in recorded.operations[:n]:
        disk.apply(operation, ignores_sync=ignores_sync)
    disk.fail(chance)
    disk.write(target)
    return recorded.operations[n - 1].end


@dataclass
class Result:
    """What was found in all trials."""

    n_trials: int = 0
    n_acknowledged: int = 0
    n_lost: int = 0
    n_twice: int = 0
    n_repaired: int = 0
    n_unreadable: int = 0

    def __str__(self) -> str:
        return (
            f"{self.n_trials} power losses, {self.n_acknowledged:,} answers acknowledged before "
            f"them; {self.n_lost} answers lost, {self.n_twice} stored twice, {self.n_unreadable} "
            f"sessions unreadable, {self.n_repaired} repaired from the journal"
        )


def power_loss(
    n_trials: int, seed: int, *, ignores_sync: bool = False, seconds: float = _SECONDS
) -> Iterator[Result]:
    """Yield the result so far after each record.

    Parameters
    ----------
    n_trials, seed : int
    ignores_sync : bool
        Whether the disk ignores each request to sync; then answers must be lost.
    seconds : float
        Of answers in one record.
    """
    chance, result = random.Random(seed), Result()
    while result.n_trials < n_trials:
        with tempfile.TemporaryDirectory() as folder:
            directory = Path(folder)
            recorded = record(directory, compile_library(directory), seconds)
            for number in range(min(_A_RECORD, n_trials - result.n_trials)):
                target = directory / f"after-{number}.likewise"
                moment = lose_power(recorded, target, chance, ignores_sync=ignores_sync)
                _check(target, recorded.clients, moment, result)
                shutil.rmtree(target)
        yield result


def _check(session: Path, clients: Sequence[TracedClient], moment: int, result: Result) -> None:
    """Check the answers that were acknowledged before a moment."""
    early = [Client(one.name, one.first) for one in clients]
    for client, traced in zip(early, clients, strict=True):
        n = sum(length <= moment for length in traced.lengths)
        client.acknowledged = traced.acknowledged[:n]
        result.n_acknowledged += n
    result.n_trials += 1
    try:
        try:
            n_lost, n_twice = check(session, early)
        except SessionError:
            repair(session)
            result.n_repaired += 1
            n_lost, n_twice = check(session, early)
    except SessionError:
        result.n_unreadable += 1
        return
    result.n_lost += n_lost
    result.n_twice += n_twice


def main() -> None:
    """Run the trials of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--ignore-sync", action="store_true", help="the disk ignores syncs: losses must be found"
    )
    given = parser.parse_args()
    begin, result = time.perf_counter(), Result()
    for result in power_loss(given.trials, given.seed, ignores_sync=given.ignore_sync):
        sys.stdout.write(f"[{time.perf_counter() - begin:5.0f} s] {result}\n")
        sys.stdout.flush()
    sys.exit(bool(result.n_lost or result.n_twice or result.n_unreadable))


if __name__ == "__main__":
    main()
