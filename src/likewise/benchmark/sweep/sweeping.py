"""Do what a sweep file asks for, as far as it is not done yet."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from likewise.benchmark.protocol import Run
from likewise.benchmark.sweep.entries import Sweep
from likewise.benchmark.sweep.identity import spec_of
from likewise.benchmark.sweep.ledger import Ledger, Row
from likewise.benchmark.sweep.machine import machine, n_cores
from likewise.benchmark.sweep.prepare import materials, prepare
from likewise.benchmark.sweep.work import work
from likewise.errors import DatasetError
from likewise.progress import Progress, silent

Step = Callable[[str], Progress]


class Report(NamedTuple):
    """How a sweep went: rows in all, those made now, the failed ones, seconds."""

    n_rows: int
    n_made: int
    failed: list[Row]
    seconds: float


def sweep(
    wanted: Sweep, out: Path, *, n_jobs: int | None = None, step: Step = lambda title: silent
) -> Report:
    """Run every run of `wanted` that has no row in `out`.

    Rows are appended as they come, each on disk before the next; in the end the file is put
    into the order of the sweep. So one that was killed and started again leaves the same
    file as one that was not, but for the times.

    Raises
    ------
    DatasetError
        If a data set cannot be read or not be sorted as wanted; then nothing was run.
    """
    begin = time.perf_counter()
    jobs = n_jobs or n_cores()
    with Ledger(out) as ledger:
        todo = [run for run in wanted.runs if not ledger.is_done(spec_of(run))]
        _prepare(todo, step("reading and embedding"))
        tell, n_made = step("runs"), 0
        threads = max(n_cores() // jobs, 1)
        for outcome in work(todo, _perform, jobs, threads):
            ledger.add(_row(outcome.task, outcome.result, outcome.error, threads))
            n_made += 1
            tell(n_made, len(todo))
        specs = [spec_of(run) for run in wanted.runs]
        ledger.put_in_order(specs)
        rows = [row for row in ledger.rows.values() if row.get("spec") in specs]
    failed = [row for row in rows if "error" in row]
    return Report(len(rows), n_made, failed, time.perf_counter() - begin)


def _prepare(runs: list[Run], tell: Progress) -> None:
    wanted = materials(runs)
    for done, outcome in enumerate(work(wanted, prepare, 1, n_cores()), start=1):
        if outcome.error is not None:
            raise DatasetError(f"Nothing was run: {outcome.error}")
        tell(done, len(wanted))


def _perform(run: Run) -> Row:
    """Do one run; only its own process imports what that takes."""
    from likewise.benchmark.run import perform

    return perform(run)


def _row(run: Run, result: Row | None, error: str | None, n_threads: int) -> Row:
    head: Row = {"spec": spec_of(run)}
    if result is None:
        return {**head, "method": run.method, "error": error}
    made = {"n_threads": n_threads, "date": _today(), "machine": machine()}
    return {**head, **_rounded(result), **made}


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _rounded(value: Any) -> Any:
    """Return a row with six decimals, so that a file of many stays small."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(one) for one in value]
    return value
