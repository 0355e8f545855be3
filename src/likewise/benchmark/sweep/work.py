"""Each run in a process of its own, as many at once as the machine has cores."""

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from likewise.errors import LikewiseError

Task = TypeVar("Task")
_PRELOAD = ["likewise.benchmark.run", "likewise.methods.likewise", "likewise.methods.contrastive"]
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Outcome(Generic[Task]):
    """What came of a task: a result, or an error in words (then `result` is None)."""

    task: Task
    result: Any
    error: str | None


def work(
    tasks: Sequence[Task], do: Callable[[Task], Any], n_jobs: int, n_threads: int
) -> Iterator[Outcome[Task]]:
    """Do every task, and yield what came of it as soon as it is there.

    A process each: memory is then the run's own, and one that crashes takes no other with
    it. Processes are forked from a server that has the large imports behind it.

    Parameters
    ----------
    tasks : sequence
    do : callable
        A function of a module, given a task.
    n_jobs, n_threads : int
        Processes at once, and threads in each.
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
                assert isinstance(ours, Connection)  # `wait` returns what it was given
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
            f"The process ended with code {process.exitcode} before the run was done; "
            "if the code is -9, there was probably not enough memory: use fewer --jobs."
        )
    return Outcome(task, result, error)


def _child(do: Callable[[Any], Any], task: Any, pipe: Connection, n_threads: int) -> None:
    threading.Thread(target=_leave_with_parent, daemon=True).start()
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
    if "torch" in sys.modules:  # else it reads the environment when it is loaded
        sys.modules["torch"].set_num_threads(n_threads)


def _leave_with_parent() -> None:
    """End this process when the one that wants its result is gone."""
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
