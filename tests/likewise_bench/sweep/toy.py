"""Runs that cost nothing, for tests of the sweep itself."""

import os
import time
from pathlib import Path
from typing import Any

from likewise.errors import InvalidParameterError
from likewise_bench.spec import RunSpec
from tests.likewise_bench.tables.rows import row


def prepare(material: Any) -> int:
    return 1


def perform(run: RunSpec) -> dict[str, Any]:
    if run.method == "dec":
        raise InvalidParameterError("dec=1 cannot be; try another.")
    if run.method == "idec":
        raise ZeroDivisionError("a bug")
    if run.method == "sdec":
        os.kill(os.getpid(), 9)
    # Seeds 0 and 1 come through, the others wait: a sweep is half-way for as long as one wants.
    while run.seed > 1 and run.data is not None and Path(run.data, "halt").exists():
        time.sleep(0.02)
    named = {"dataset": run.dataset, "criterion": run.criterion}
    made = row(run.method, (run.seed + 1) / 3, seed=run.seed, n=run.n_questions, **named)
    added_by_the_sweep = ("spec", "machine", "n_threads")
    kept = {name: value for name, value in made.items() if name not in added_by_the_sweep}
    return {**kept, "seconds": {"total": time.perf_counter()}}
