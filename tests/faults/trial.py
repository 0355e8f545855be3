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

from tests.faults import hits
from tests.faults.marking import marked
from tests.faults.planting import Fault, plant
from tests.faults.watching import Survey, Watch

QUIET = ["-q", "-p", "no:cacheprovider", "--durations=0", "--disable-plugin-autoload"]
PLUGINS = ["pytest_timeout", "xdist.plugin", "anyio.pytest_plugin", "_hypothesis_pytestplugin"]
HEAVY = "schemathesis"  # three seconds to import, for the one file that names it
Line = list[Any]  # one line of the log: a word, then what the plugin has to say
HEALTH = list(hypothesis.HealthCheck)
ALREADY_HERE = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # the parent has imported it


@dataclass(frozen=True)
class Case:
    """What the survey knows of one test."""

    name: str
    seconds: float
    lines: frozenset[tuple[str, int]]

    @property
    def function(self) -> str:
        return self.name.split("[")[0]


@dataclass
class Outcome:
    """Which tests ran, which failed; `broken` when the tests could not even be collected."""

    failed: list[str] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    broken: bool = False
    late: bool = False
    reason: str = ""

    @property
    def noticed(self) -> bool:
        return bool(self.failed) or self.broken or self.late


class Copy:
    """A private copy of the tree. Third-party modules are imported once, here, before forking."""

    def __init__(
        self,
        root: Path,
        folder: Path,
        room: str,
        tests: Sequence[str] | None = None,
        marks: str = "",
    ) -> None:
        self.tree = folder / root.name
        ignored = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "*.egg-info")
        shutil.copytree(root, self.tree, ignore=ignored)
        if (root.parent / "shared").exists():
            (folder / "shared").symlink_to((root.parent / "shared").resolve())
        self.source = self.tree / "src/likewise" / room
        self.tests = tests or [f"tests/{room}"]
        self.marks = marks
        self.log = folder / "log"
        self.stamp = int(time.time())

    def survey(self) -> list[Case]:
        """Run the room's tests without a fault; those that fail even so are left out."""
        chosen = [*self.tests, *(["-m", self.marks] if self.marks else [])]
        hook = self.tree.parent / "hook"
        hook.mkdir()
        (hook / "faults_hits.py").write_bytes(Path(hits.__file__).read_bytes())
        os.environ["FAULTS_HITS"] = str(hook / "hits")
        files = [self.source] if self.source.is_file() else sorted(self.source.rglob("*.py"))
        sound = {path: path.read_bytes() for path in files}
        for path, text in sound.items():
            self._write(path, marked(text, str(path)).encode())
        lines = self._fork(chosen, lambda log: Survey(log, hook / "hits"), 3600)
        for path, text in sound.items():
            self._write(path, text)
        broken = {line[1] for line in lines if line[0] == "failed"}
        for name, why in ((line[1], line[2]) for line in lines if line[0] == "failed"):
            sys.stdout.write(f"left out, fails without a fault: {name}\n{why[-600:]}\n")
        for name in next(line[1] for line in lines if line[0] == "modules"):
            if name.split(".")[0] not in {"likewise", "tests", "conftest", "__main__"}:
                with suppress(Exception):
                    importlib.import_module(name)
        gc.freeze()  # or every child looks through all of that again, several times
        tests = [line[1:] for line in lines if line[0] == "test"]
        return [
            Case(n, s, frozenset((f, k) for f, k in ls)) for n, s, ls in tests if n not in broken
        ]

    def run(
        self, faults: Sequence[Fault], first: Sequence[Case], then: Sequence[Case] = ()
    ) -> Outcome:
        """Plant faults, run all of `first`, then `then` until one fails; mend the files."""
        sound = {fault.path: (self.tree / fault.path).read_bytes() for fault in faults}
        every = [*first, *then]
        if not every:
            return Outcome()
        files = sorted({test.name.split("::")[0] for test in every})
        patience = 30 + 8 * sum(test.seconds for test in every)
        longest = 20 + 8 * max(test.seconds for test in every)
        names = [[test.name for test in tests] for tests in (first, then)]
        try:
            for path, text in sound.items():
                faulty = plant(text, [fault for fault in faults if fault.path == path])
                self._write(self.tree / path, faulty)
            words = [*files, f"--timeout={longest:.0f}"]
            lines = self._fork(words, lambda log: Watch(log, *names), patience)
        finally:
            for path, text in sound.items():
                self._write(self.tree / path, text)
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
    os.environ["PYTHONPATH"] = os.pathsep.join([str(tree / "src"), str(tree.parent / "hook")])
    sys.path[:0] = [str(tree / "src"), str(tree), str(tree.parent / "hook")]
    for name in [name for name in sys.modules if name.split(".")[0] in {"tests", "likewise"}]:
        del sys.modules[name]
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    # The same examples for every fault, a slow machine is no fault, and one example will do.
    hypothesis.settings.register_profile(
        "faults",
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=HEALTH,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )
    hypothesis.settings.load_profile("faults")
    with log.open("a") as out:
        pytest.main([*QUIET, *ALREADY_HERE, *_plugins(files), *files], plugins=[plugin(out)])


def _plugins(files: Iterable[str]) -> list[str]:
    paths = [path for name in files for path in (Path(name), *Path(name).rglob("*.py"))]
    is_heavy = any(HEAVY in path.read_text() for path in paths if path.is_file())
    used = [*PLUGINS, f"{HEAVY}.pytest.plugin"] if is_heavy else PLUGINS
    return [word for name in used for word in ("-p", name)]


def _judge(lines: list[Line]) -> Outcome:
    failed = [str(line[1]) for line in lines if line[0] == "failed"]
    started = [str(line[1]) for line in lines if line[0] == "started"]
    late = ["late"] in lines
    if late and started:
        failed.append(started[-1])
    broken = not started or any(line[0] == "broken" for line in lines)
    reason = next((line[2] for line in lines if line[0] == "failed"), "")
    return Outcome(sorted(set(failed)), started, broken, late, reason)
