"""A copy of the tree in which faults are planted, and tests run in forked interpreters."""

import gc
import importlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import hypothesis
import pytest

from tests.faults.planting import Fault
from tests.faults.watching import Survey, Watch

QUIET = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly", "--durations=0"]
Line = list[Any]  # one line of the log: a word, then what the plugin has to say
HEALTH = list(hypothesis.HealthCheck)
ALREADY_HERE = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # the parent has imported it


@dataclass(frozen=True)
class Case:
    """What the survey knows of one test."""

    name: str
    seconds: float
    lines: frozenset[tuple[str, int]]
    elsewhere: bool

    @property
    def function(self) -> str:
        return self.name.split("[")[0]


@dataclass
class Outcome:
    """Which tests ran, which failed; `broken` when the tests could not even be collected."""

    failed: list[str] = field(default_factory=list)
    broken: bool = False
    late: bool = False

    @property
    def noticed(self) -> bool:
        return bool(self.failed) or self.broken or self.late


class Copy:
    """A private copy of the tree. Third-party modules are imported once, here, before forking."""

    def __init__(self, root: Path, folder: Path, room: str) -> None:
        self.tree = folder / root.name
        ignored = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "*.egg-info", "docs")
        shutil.copytree(root, self.tree, ignore=ignored)
        if (root.parent / "shared").exists():
            (folder / "shared").symlink_to((root.parent / "shared").resolve())
        self.room = room
        self.log = folder / "log"
        self.stamp = int(time.time())

    def survey(self) -> list[Case]:
        """Run the room's tests without a fault; they must pass."""
        package = self.tree / "src/likewise" / self.room
        lines = self._fork([f"tests/{self.room}"], lambda log: Survey(log, package), 3600)
        broken = [line[1:] for line in lines if line[0] == "failed"]
        if broken:
            raise RuntimeError(f"without any fault these fail: {json.dumps(broken, indent=1)}")
        for name in next(line[1] for line in lines if line[0] == "modules"):
            if name.split(".")[0] not in {"likewise", "tests", "conftest", "__main__"}:
                with suppress(Exception):
                    importlib.import_module(name)
        gc.freeze()  # or every child looks through all of that again, several times
        tests = [line[1:] for line in lines if line[0] == "test"]
        return [Case(n, s, frozenset((f, k) for f, k in ls), e) for n, s, ls, e in tests]

    def run(self, fault: Fault, first: Sequence[Case], then: Sequence[Case] = ()) -> Outcome:
        """Plant one fault, run all of `first`, then `then` until one fails; mend the file."""
        path = self.tree / fault.path
        sound = path.read_bytes()
        every = [*first, *then]
        if not every:
            return Outcome()
        files = sorted({test.name.split("::")[0] for test in every})
        patience = 20 + 4 * sum(test.seconds for test in every)
        names = [[test.name for test in tests] for tests in (first, then)]
        try:
            self._write(path, fault.source)
            lines = self._fork(files, lambda log: Watch(log, *names), patience)
        finally:
            self._write(path, sound)
        return _judge(lines)

    def _write(self, path: Path, text: bytes) -> None:
        """Write with a time of its own, so that no compiled file is mistaken for this one."""
        path.write_bytes(text)
        self.stamp += 1
        os.utime(path, (self.stamp, self.stamp))

    def _fork(
        self, files: Iterable[str], plugin: Callable[[TextIO], object], patience: float
    ) -> list[Line]:
        self.log.unlink(missing_ok=True)
        shutil.rmtree(self.tree / ".hypothesis", ignore_errors=True)
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                _run_pytest(self.tree, files, plugin, self.log)
            finally:
                os._exit(0)
        try:
            late = not _ends(child, patience)
        finally:
            with suppress(ProcessLookupError):  # also whatever a test left running
                os.killpg(child, signal.SIGKILL)
        text = self.log.read_text() if self.log.exists() else ""
        lines: list[Line] = [json.loads(line) for line in text.splitlines()]
        return [*lines, ["late"]] if late else lines


def _ends(child: int, patience: float) -> bool:
    """Wait for a child to end; return whether it did in time."""
    end = time.monotonic() + patience
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False
        time.sleep(0.02)
    return True


def _run_pytest(
    tree: Path, files: Iterable[str], plugin: Callable[[TextIO], object], log: Path
) -> None:
    os.chdir(tree)
    os.environ["PYTHONPATH"] = str(tree / "src")
    sys.path[:0] = [str(tree / "src"), str(tree)]
    for name in [name for name in sys.modules if name.split(".")[0] in {"tests", "likewise"}]:
        del sys.modules[name]
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    # The same examples for every fault, and a slow machine is no fault.
    hypothesis.settings.register_profile(
        "faults", derandomize=True, database=None, deadline=None, suppress_health_check=HEALTH
    )
    hypothesis.settings.load_profile("faults")
    with log.open("a") as out:
        pytest.main([*QUIET, *ALREADY_HERE, *files], plugins=[plugin(out)])


def _judge(lines: list[Line]) -> Outcome:
    failed = [str(line[1]) for line in lines if line[0] == "failed"]
    started = [str(line[1]) for line in lines if line[0] == "started"]
    late = ["late"] in lines
    if late and started:
        failed.append(started[-1])
    broken = not started or any(line[0] == "broken" for line in lines)
    return Outcome(sorted(set(failed)), broken, late)
