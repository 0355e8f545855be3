"""Generated requests to the HTTP API (Schemathesis), with all of its checks.

``python -m benchmarks.robustness.api_requests --requests 10000 --seed 0``. The requests are valid
and invalid ones of every operation of ``openapi.json``; a server of its own answers them.
"""

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis.errors import Unsatisfiable

from benchmarks.robustness.server_process import CRITERION, server_process
from benchmarks.synthetic_load_data import paint
from likewise.constraints.question import Answer, Question
from likewise.images.files import read_folder
from likewise.session.create import default_session_path
from likewise.session.results import save_results
from likewise.session.session import Session

_N_IMAGES, _N_GROUPS = 60, 3
_STREAM = "/api/events"  # never ends
_AT_ONCE = 25  # requests to an operation before the next one
#: A valid request may be about an image or a group that does not exist: that is 400 or 404.
_NOT_USED = ("positive_data_acceptance",)


@dataclass
class Result:
    """What the checks found."""

    n_requests: int = 0
    n_operations: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    @property
    def n_server_errors(self) -> int:
        """Number of responses with status 500 or above, but not 503 (a documented response)."""
        return sum(n for status, n in self.statuses.items() if status >= 500 and status != 503)

    def __str__(self) -> str:
        statuses = ", ".join(f"{n:,} x {status}" for status, n in sorted(self.statuses.items()))
        return (
            f"{self.n_requests:,} requests to {self.n_operations} operations: {statuses}; "
            f"{self.n_server_errors} server errors, {self.failures.total()} failed checks"
        )


def api_requests(n_requests: int, first_seed: int) -> Iterator[Result]:
    """Yield the result so far after each round through all operations."""
    result = Result()
    with tempfile.TemporaryDirectory() as directory, server_process() as servers:
        folder = Path(directory) / "photos"
        _prepare(folder)
        address = servers.start(folder, has_worker=False)
        parts = urlsplit(address)
        headers = {"Authorization": f"Bearer {parse_qs(parts.query)['token'][0]}"}
        connection = requests.Session()
        connection.headers.update(headers)
        url = f"http://{parts.netloc}/openapi.json"
        schema: Any = schemathesis.openapi.from_url(url, headers=headers)
        operations = [one.ok() for one in schema.exclude(path=_STREAM).get_all_operations()]
        result.n_operations = len(operations)
        number = first_seed
        while result.n_requests < n_requests:
            for operation in operations:
                for mode in schemathesis.GenerationMode:
                    cases = operation.as_strategy(generation_mode=mode)
                    _request(cases, connection, result, number)
            number += 1
            yield result
        os.killpg(servers.pid, signal.SIGKILL)
        servers.wait()


def _prepare(folder: Path) -> None:
    """Create a session with groups, answers and results."""
    paint(folder, _N_IMAGES, _N_GROUPS)
    with Session.create(default_session_path(folder), read_folder(folder)) as session:
        session.add_criterion(CRITERION, _N_GROUPS)
        keys = tuple(group.key for group in session.make_groups(CRITERION, ["a", "b", "c"]))
        session.tell_all(
            [Answer(Question.label(i), keys[i % 3], "ada", CRITERION) for i in range(9)]
        )
        rng = random.Random(0)
        rows = [[rng.random() for _ in keys] for _ in range(_N_IMAGES)]
        save_results(session, CRITERION, [[p / sum(row) for p in row] for row in rows], keys=keys)


def _request(cases: Any, connection: requests.Session, result: Result, number: int) -> None:
    """Send generated requests to one operation and check the responses."""

    headers = {"Authorization": str(connection.headers["Authorization"])}

    @settings(
        max_examples=_AT_ONCE, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @seed(number)
    @given(case=cases)
    def every(case: Any) -> None:
        response = case.call(session=connection, timeout=30)
        result.n_requests += 1
        result.statuses[response.status_code] += 1
        try:
            case.validate_response(response, excluded_checks=_excluded(), headers=headers)
        except* Exception as failures:
            for failure in failures.exceptions:
                what = f"{case.method} {case.operation.path}: {type(failure).__name__}"
                result.failures[what] += 1
                result.examples.setdefault(what, " ".join(str(failure).split())[:600])

    with contextlib.suppress(Unsatisfiable):  # an operation without parameters
        every()


def _excluded() -> list[Any]:
    from schemathesis.checks import CHECKS, load_all_checks

    load_all_checks()
    return list(CHECKS.get_by_names(list(_NOT_USED)))


def main() -> None:
    """Send the requests of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    begin, result = time.perf_counter(), Result()
    for result in api_requests(given.requests, given.seed):
        sys.stdout.write(f"[{time.perf_counter() - begin:5.0f} s] {result}\n")
        sys.stdout.flush()
    for what, n in result.failures.most_common():
        sys.stdout.write(f"  {n} x {what}: {result.examples[what]}\n")
    sys.exit(bool(result.n_server_errors or result.failures))


if __name__ == "__main__":
    main()
