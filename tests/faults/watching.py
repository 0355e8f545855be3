"""A pytest plugin that runs chosen tests in a chosen order and writes down what happened."""

import importlib
import json
import sys
import time
from collections.abc import Container, Generator, Sequence
from pathlib import Path
from typing import TextIO

import hypothesis
import pytest

EXAMPLES = 30  # of a property, at most: a fault that more than these miss is a survivor


class Watch:
    """Run `first` to the end, then `then` until one fails; note starts and failures in a file."""

    def __init__(self, log: TextIO, first: Sequence[str], then: Sequence[str] = ()) -> None:
        self.log = log
        self.first = set(first)
        self.order = {name: k for k, name in enumerate([*first, *then])}
        self.failed = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        _take_fewer_examples(items)
        items[:] = [item for item in items if _known(item, self.order)]
        items.sort(key=lambda item: self.order[_known(item, self.order)])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if self.failed and not _known(item, self.first):
            item.session.shouldstop = "noticed"
        else:
            self.note("started", item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = True
            self.note("failed", report.nodeid, _reason(report.longreprtext))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.note("broken", report.nodeid)

    def note(self, *words: str) -> None:
        """Append one line; it must be on disk when the process is killed."""
        self.log.write(json.dumps(words) + "\n")
        self.log.flush()


class Survey:
    """Run everything once; keep each test's seconds and its lines of the room (`marking`)."""

    def __init__(self, log: TextIO, hits: Path) -> None:
        self.log = log
        self.hits = hits

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        _take_fewer_examples(items)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        importlib.import_module("faults_hits").seen.clear()
        self.hits.write_text("")
        began = time.perf_counter()
        try:
            return (yield)
        finally:
            found = [item.nodeid, time.perf_counter() - began, self._lines()]
            self.log.write(json.dumps(["test", *found]) + "\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.log.write(
                json.dumps(["failed", report.nodeid, report.longreprtext[-2000:]]) + "\n"
            )

    def pytest_sessionfinish(self) -> None:
        self.log.write(json.dumps(["modules", sorted(sys.modules)]) + "\n")
        self.log.flush()

    def _lines(self) -> list[tuple[str, int]]:
        found = [line.partition("\t") for line in self.hits.read_text().splitlines()]
        return sorted({(path, int(line)) for path, _, line in found})


def _reason(text: str) -> str:
    """Return what pytest says of a failure, in a line."""
    marked = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]
    return " ".join(marked)[:200]


def _known(item: pytest.Item, names: Container[str]) -> str:
    """Return by which name a test is asked for, its own or its function's; or nothing."""
    asked = [name for name in (item.nodeid, item.nodeid.split("[")[0]) if name in names]
    return asked[0] if asked else ""


def _take_fewer_examples(items: list[pytest.Item]) -> None:
    for item in items:
        test = getattr(item, "obj", None)
        given = getattr(test, "_hypothesis_internal_use_settings", None)
        if given and given.max_examples > EXAMPLES:
            few = hypothesis.settings(given, max_examples=EXAMPLES)
            test._hypothesis_internal_use_settings = few  # type: ignore[union-attr]  # it has one
