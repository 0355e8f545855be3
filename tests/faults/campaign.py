"""Plant a sample of faults in one room and find which tests notice; then chase the quiet tests."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from tests.faults.planting import Fault, faults_in
from tests.faults.trial import Case, Copy, Outcome

Say = Callable[[str], None]
FRESH_SECONDS = 15.0  # a fault, for tests that have not failed yet though another one did


@dataclass
class Report:
    """What one run of a room found."""

    n_possible: int
    n_planted: int = 0
    n_chased: int = 0
    n_late: int = 0
    survivors: list[Fault] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)

    @property
    def never_failed(self) -> list[str]:
        return sorted(self.functions - self.seen)


class Campaign:
    """The faults and tests of one room, and who covers what."""

    def __init__(
        self, copy: Copy, say: Say, patience: float = 60.0, record: Path | None = None
    ) -> None:
        self.copy = copy
        self.say = say
        self.patience = patience  # seconds of tests that may be spent on one fault
        self.record = record
        self.tests = sorted(copy.survey(), key=lambda test: test.seconds)
        files = [copy.source] if copy.source.is_file() else sorted(copy.source.rglob("*.py"))
        paths = [path.relative_to(copy.tree) for path in files]
        self.faults = [fault for path in paths for fault in faults_in(path, copy.tree)]
        self.report = Report(len(self.faults), functions={test.function for test in self.tests})
        self.by_line: dict[tuple[str, int], list[Case]] = defaultdict(list)
        for test in self.tests:
            for line in test.lines:
                self.by_line[line].append(test)

    def sample(self, n_faults: int, seed: int, only: Sequence[str] = ("",)) -> None:
        """Plant faults drawn at random; tests not seen failing all run, others until one fails."""
        possible = [fault for fault in self.faults if any(words in str(fault) for words in only)]
        rng = random.Random(seed)
        for fault in rng.sample(possible, min(n_faults, len(possible))):
            self.report.n_planted += 1
            if self.report.n_planted % 20 == 0:
                quiet = len(self.report.never_failed)
                self.say(f"{self.report.n_planted} planted, {quiet} tests have not failed yet")
            touching = self.touching(fault)
            fresh = [test for test in touching if test.function not in self.report.seen]
            fresh = _within(FRESH_SECONDS, fresh)
            known = _within(self.patience, [test for test in touching if test not in fresh])
            rest = _within(self.patience, [test for test in self.tests if test not in touching])
            if not any(
                self._try([fault], *these).noticed for these in [(fresh, known), ([], rest)]
            ):
                self.report.survivors.append(fault)
                self.say(f"survivor  {fault}")

    def chase(self, n_tries: int, seed: int) -> None:
        """Plant faults under the tests that never failed, where the fewest others look first.

        Several at once, as long as every test that is run reaches one of them only: the tests that
        fail are the same as if each were planted alone.
        """
        untried = self._candidates(n_tries, random.Random(seed))
        while batch := self._batch(untried):
            faults = list(batch.values())
            reach = Counter(test.name for fault in faults for test in self.touching(fault))
            quiet = [t for t in self.tests if t.function in untried and reach[t.name] == 1]
            meant = [test for test in quiet if test.function in batch]
            others = _within(self.patience, [test for test in quiet if test.function not in batch])
            self.report.n_chased += len(faults)
            outcome = self._try(faults, [*meant, *others], [])
            tried = {name.split("[")[0] for name in outcome.started} or set(batch)
            for function in tried:
                untried[function] = [fault for fault in untried[function] if fault not in faults]
            untried = {name: untried[name] for name in self.report.never_failed}

    def _candidates(self, n_tries: int, rng: random.Random) -> dict[str, list[Fault]]:
        """List for each quiet test the faults to try; those that few tests reach come first."""
        under = defaultdict(list)
        n_reaching = {}
        for fault in rng.sample(self.faults, len(self.faults)):
            functions = {test.function for test in self.touching(fault)}
            n_reaching[fault] = len(functions)
            for function in functions:
                under[function].append(fault)
        return {
            name: sorted(under[name], key=n_reaching.__getitem__)[:n_tries]
            for name in self.report.never_failed
        }

    def _batch(self, untried: dict[str, list[Fault]]) -> dict[str, Fault]:
        """Return tests, each with a fault that no other of them reaches."""
        batch: dict[str, Fault] = {}
        reached: set[str] = set()
        seconds = 0.0
        for function, faults in untried.items():
            for fault in faults if function not in reached and seconds < self.patience else []:
                touching = self.touching(fault)
                functions = {test.function for test in touching}
                apart = not any(fault.overlaps(other) for other in batch.values())
                if apart and not functions & batch.keys():
                    batch[function] = fault
                    reached |= functions
                    seconds += sum(test.seconds for test in touching if test.function == function)
                    break
        return batch

    def touching(self, fault: Fault) -> list[Case]:
        """Return the tests that run the fault's lines, or may, quickest first."""
        if not fault.in_function:
            return self.tests
        path = str(self.copy.tree / fault.path)
        found = {test.name: test for line in fault.lines for test in self.by_line[path, line]}
        return sorted(found.values(), key=lambda test: test.seconds)

    def _try(self, faults: Sequence[Fault], first: Sequence[Case], then: Sequence[Case]) -> Outcome:
        outcome = self.copy.run(faults, first, then)
        self.report.seen |= {name.split("[")[0] for name in outcome.failed}
        self.report.n_late += outcome.late
        if self.record:
            line = [[str(fault) for fault in faults], outcome.failed, outcome.late]
            with self.record.open("a") as lines:
                lines.write(json.dumps(line) + "\n")
        return outcome


def _within(seconds: float, tests: list[Case]) -> list[Case]:
    """Return the quickest tests that together take no longer; `tests` are in that order."""
    ends = accumulate(test.seconds for test in tests)
    return [test for test, end in zip(tests, ends, strict=True) if end <= seconds]
