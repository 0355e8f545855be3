"""Plant a sample of faults in one room and find which tests notice; then chase the quiet tests."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from tests.faults.planting import Fault, faults_in
from tests.faults.trial import Case, Copy

Say = Callable[[str], None]
FRESH_SECONDS = 15.0  # a fault, for tests that have not failed yet though another one did
REST_SECONDS = 60.0  # a survivor, for tests that seem not to reach its line


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

    def __init__(self, copy: Copy, say: Say) -> None:
        self.copy = copy
        self.say = say
        self.tests = sorted(copy.survey(), key=lambda test: test.seconds)
        files = sorted((copy.tree / "src/likewise" / copy.room).rglob("*.py"))
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
            known = [test for test in touching if test not in fresh]
            rest = _within(REST_SECONDS, [test for test in self.tests if test not in touching])
            if not (self._try(fault, fresh, known) or self._try(fault, [], rest)):
                self.report.survivors.append(fault)
                self.say(f"survivor  {fault}")

    def chase(self, n_tries: int, seed: int) -> None:
        """Plant faults under the tests that never failed, where the fewest others look first."""
        rng = random.Random(seed)
        under = defaultdict(list)
        for fault in self.faults:
            for function in {test.function for test in self.touching(fault)}:
                under[function].append(fault)
        for function in self.report.never_failed:
            faults = rng.sample(under[function], len(under[function]))
            faults.sort(key=lambda fault: len({test.function for test in self.touching(fault)}))
            for fault in faults[:n_tries]:
                if function in self.report.seen:
                    break
                self.report.n_chased += 1
                quiet = self.report.never_failed
                self._try(fault, [t for t in self.touching(fault) if t.function in quiet], [])

    def touching(self, fault: Fault) -> list[Case]:
        """Return the tests that run the fault's lines, or may, quickest first."""
        if not fault.in_function:
            return self.tests
        path = str(self.copy.tree / fault.path)
        found = {test.name: test for line in fault.lines for test in self.by_line[path, line]}
        found |= {test.name: test for test in self.tests if test.elsewhere}
        return sorted(found.values(), key=lambda test: test.seconds)

    def _try(self, fault: Fault, first: Iterable[Case], then: Iterable[Case]) -> bool:
        outcome = self.copy.run(fault, list(first), list(then))
        self.report.seen |= {name.split("[")[0] for name in outcome.failed}
        self.report.n_late += outcome.late
        return outcome.noticed


def _within(seconds: float, tests: list[Case]) -> list[Case]:
    """Return the quickest tests that together take no longer; `tests` are in that order."""
    ends = accumulate(test.seconds for test in tests)
    return [test for test, end in zip(tests, ends, strict=True) if end <= seconds]
