"""Runs that cost nothing, for tests of the sweep itself."""

import os
import time
from pathlib import Path
from typing import Any

from likewise.benchmark.protocol import Run
from likewise.errors import InvalidParameterError


def prepare(material: Any) -> int:
    return 1


def perform(run: Run) -> dict[str, Any]:
    if run.method == "dec":
        raise InvalidParameterError("dec=1 cannot be; try another.")
    if run.method == "idec":
        raise ZeroDivisionError("a bug")
    if run.method == "sdec":
        os.kill(os.getpid(), 9)
    if run.data is not None and Path(run.data, "slow").exists():
        time.sleep(0.1)
    return {
        "dataset": run.dataset,
        "orientation": run.orientation,
        "method": run.method,
        "seed": run.seed,
        "n_questions": run.n_questions,
        "acc": (run.seed + 1) / 3,
        "seconds": {"total": time.perf_counter()},
    }
