"""Run the missing rows of a sweep in parallel processes."""

import multiprocessing
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from likewise import __version__
from likewise.errors import DatasetError, LikewiseError
from likewise.operating_system import n_available_cores, total_memory
from likewise.types import Progress, silent
from likewise_bench.spec import RunSpec, split_parts
from likewise_bench.sweep.results_file import ResultsFile, Row
from likewise_bench.sweep.spec import Sweep, spec_of

_PACKAGES = ("numpy", "scikit-learn", "torch", "onnxruntime")


@cache
def machine() -> dict[str, str | int | float]:
    """Return the environment needed to compare timings; no host or user names."""
    environment: dict[str, str | int | float] = {
        "processor": _processor(),
        "cores": n_available_cores(),
        "memory_gb": round((total_memory() or 0) / 2**30, 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "likewise": __version__,
    }
    for package in _PACKAGES:
        try:
            environment[package] = version(package)
        except PackageNotFoundError:
            continue
    return environment


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


RunInput = tuple[RunSpec, ...]  # one run per criterion of the same images


def distinct_inputs(runs: Iterable[RunSpec]) -> list[RunInput]:
    """Return one run per distinct input and criterion."""
    shared: dict[tuple[object, ...], dict[str | None, RunSpec]] = {}
    for run in runs:
        source = (run.dataset, run.data, run.images, run.labels)
        shared.setdefault((*source, *_chosen(run)), {}).setdefault(run.criterion, run)
    return [tuple(by_criterion.values()) for by_criterion in shared.values()]


def _chosen(run: RunSpec) -> tuple[object, ...]:
    """Return the fields that determine which images are embedded, and how."""
    seed = run.seed if run.protocol == "inductive" else None
    part = (run.split, run.protocol, run.n_images, run.n_test, run.test_fraction, seed)
    return (run.encoder, run.from_scratch, *part)


def prepare(runs: RunInput) -> int:
    """Read, validate and embed; the vectors are cached when this returns.

    Returns
    -------
    n_images : int

    Raises
    ------
    DatasetError, UnknownNameError
        If files are missing or broken, or the data set lacks the criterion.
    """
    from likewise_bench.evaluation import GroundTruth
    from likewise_bench.inputs import make_inputs
    from likewise_bench.runner import load

    first = runs[0]
    dataset = load(first)
    parts = split_parts(first, dataset)
    for run in runs:
        GroundTruth(dataset, run.criterion, parts)
    if not first.from_scratch:
        make_inputs(replace(first, n_questions=0), dataset, parts)
    return len(parts.train) + len(parts.test)


Task = TypeVar("Task")
_PRELOAD = [
    "likewise_bench.runner",
    "likewise.estimators.kernel.likewise",
    "likewise.estimators.deep.learner",
]
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Outcome(Generic[Task]):
    """Outcome of a task: a result, or an error message (then `result` is None)."""

    task: Task
    result: Any
    error: str | None


def work(
    tasks: Sequence[Task], do: Callable[[Task], Any], n_jobs: int, n_threads: int
) -> Iterator[Outcome[Task]]:
    """Run every task, and yield outcomes as they complete.

    Each task has its own process: its peak memory can be measured, and a crash affects no other
    task. Processes are forked from a server that has already imported the large libraries.

    Parameters
    ----------
    tasks : sequence
    do : callable
        A module-level function of one task.
    n_jobs, n_threads : int
        Number of parallel processes, and of threads in each.
    """
    context = _context()
    waiting, running = list(reversed(tasks)), dict[Connection, tuple[Task, BaseProcess]]()
    try:
        while waiting or running:
            while waiting and len(running) < n_jobs:
                task = waiting.pop()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_child, args=(do, task, theirs, n_threads))
                process.start()
                theirs.close()
                running[ours] = task, process
            for ours in wait(list(running)):
                assert isinstance(ours, Connection)  # `wait` returns some of its arguments
                yield _outcome(ours, *running.pop(ours))
    finally:
        for _, process in running.values():
            process.terminate()
            process.join()


def _outcome(pipe: Connection, task: Task, process: BaseProcess) -> Outcome[Task]:
    try:
        result, error = pipe.recv()
    except EOFError:
        result = error = None
    pipe.close()
    process.join()
    if result is None and error is None:
        error = (
            f"The process ended with code {process.exitcode} before the run was finished; "
            "code -9 usually means that memory ran out: use fewer --jobs."
        )
    return Outcome(task, result, error)


def _child(do: Callable[[Any], Any], task: Any, pipe: Connection, n_threads: int) -> None:
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    os.environ.update(dict.fromkeys(_THREADS, str(n_threads)))  # for libraries loaded later
    from threadpoolctl import threadpool_limits

    _limit_torch(n_threads)
    try:
        with threadpool_limits(n_threads):
            pipe.send((do(task), None))
    except LikewiseError as error:
        pipe.send((None, str(error)))
    except Exception as error:  # a bug in one method must not end the sweep
        pipe.send((None, f"{type(error).__name__}: {error}"))


def _limit_torch(n_threads: int) -> None:
    if "torch" in sys.modules:  # else torch reads the environment when imported
        sys.modules["torch"].set_num_threads(n_threads)


def _exit_with_parent() -> None:
    """Exit this worker when its parent process has ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _context() -> Any:
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        context.set_forkserver_preload(_PRELOAD)
    return context


Step = Callable[[str], Progress]


class Report(NamedTuple):
    """Summary of a sweep: total, new and failed rows, seconds."""

    n_rows: int
    n_made: int
    failed: list[Row]
    seconds: float


def sweep(
    wanted: Sweep, out: Path, *, n_jobs: int | None = None, step: Step = lambda title: silent
) -> Report:
    """Run every spec of `wanted` without a row in `out`.

    Each row is on disk before the next one is appended; at the end the file is sorted into the
    order of the sweep. A sweep that was stopped and continued leaves the same file as an
    uninterrupted one, except for times.

    Raises
    ------
    DatasetError
        If a data set cannot be read or lacks a criterion; then nothing is run.
    """
    begin = time.perf_counter()
    jobs = n_jobs or n_available_cores()
    with ResultsFile(out) as results:
        todo = [run for run in wanted.runs if not results.is_done(spec_of(run))]
        _prepare(todo, step("reading and embedding"))
        report_progress, n_made = step("runs"), 0
        threads = max(n_available_cores() // jobs, 1)
        for outcome in work(todo, _perform, jobs, threads):
            results.add(_row(outcome.task, outcome.result, outcome.error, threads))
            n_made += 1
            report_progress(n_made, len(todo))
        specs = [spec_of(run) for run in wanted.runs]
        results.put_in_order(specs)
        rows = [row for row in results.rows.values() if row.get("spec") in specs]
    failed = [row for row in rows if "error" in row]
    return Report(len(rows), n_made, failed, time.perf_counter() - begin)


def _prepare(runs: list[RunSpec], progress: Progress) -> None:
    wanted = distinct_inputs(runs)
    for done, outcome in enumerate(work(wanted, prepare, 1, n_available_cores()), start=1):
        if outcome.error is not None:
            raise DatasetError(f"Nothing was run: {outcome.error}")
        progress(done, len(wanted))


def _perform(run: RunSpec) -> Row:
    """Run one spec; heavy imports happen only in the worker process."""
    from likewise_bench.runner import run_benchmark

    return run_benchmark(run)


def _row(run: RunSpec, result: Row | None, error: str | None, n_threads: int) -> Row:
    head: Row = {"spec": spec_of(run)}
    if result is None:
        return {**head, "method": run.method, "error": error}
    made = {"n_threads": n_threads, "date": _today(), "machine": machine()}
    return {**head, **_rounded(result), **made}


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _rounded(value: Any) -> Any:
    """Return a row rounded to six decimals, to limit file size."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(one) for one in value]
    return value
