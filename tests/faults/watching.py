"""A pytest plugin that runs chosen tests in a chosen order and writes down what happened."""

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Collection, Generator, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TextIO

import pytest

CALLS = 100  # of one function in one test; watching the lines of all would take minutes


class Watch:
    """Run `first` to the end, then `then` until one fails; note starts and failures in a file."""

    def __init__(self, log: TextIO, first: Sequence[str], then: Sequence[str] = ()) -> None:
        self.log = log
        self.first = set(first)
        self.order = {name: k for k, name in enumerate([*first, *then])}
        self.failed = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.order]
        items.sort(key=lambda item: self.order[item.nodeid])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if self.failed and item.nodeid not in self.first:
            item.session.shouldstop = "noticed"
        else:
            self.note("started", item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = True
            self.note("failed", report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.note("broken", report.nodeid)

    def note(self, what: str, name: str) -> None:
        """Append one line; it must be on disk when the process is killed."""
        self.log.write(json.dumps([what, name]) + "\n")
        self.log.flush()


class Survey:
    """Run everything once; keep each test's seconds, its lines of the room, its processes."""

    def __init__(self, log: TextIO, room: Path) -> None:
        self.log = log
        self.room = str(room)
        self.lines: set[tuple[str, int]] = set()
        self.calls: Counter[CodeType] = Counter()
        self.elsewhere = False
        sys.addaudithook(self._audit)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.lines, self.elsewhere, began = set(), False, time.perf_counter()
        self.calls.clear()
        threading.settrace(self._call)
        sys.settrace(self._call)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            seconds = time.perf_counter() - began
            found = [item.nodeid, seconds, sorted(self.lines), self.elsewhere]
            self.log.write(json.dumps(["test", *found]) + "\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.log.write(
                json.dumps(["failed", report.nodeid, report.longreprtext[-2000:]]) + "\n"
            )

    def pytest_sessionfinish(self) -> None:
        self.log.write(json.dumps(["modules", sorted(sys.modules)]) + "\n")
        self.log.flush()

    def _audit(self, event: str, _: Collection[object]) -> None:
        if event in {"subprocess.Popen", "os.fork", "os.posix_spawn"}:
            self.elsewhere = True

    def _call(self, frame: FrameType, *_: object) -> Any:
        if not frame.f_code.co_filename.startswith(self.room):
            return None
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        self.calls[frame.f_code] += 1
        return self._line if self.calls[frame.f_code] <= CALLS else None

    def _line(self, frame: FrameType, *_: object) -> Any:
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line
