"""Compute shards in worker processes of Ray, on one machine or many; imported only when asked."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from likewise.embedding.shard_run import Failed, Finished, ShardTask, finish
from likewise.embedding.shards import ShardFolder
from likewise.errors import InvalidParameterError, LikewiseError, MissingExtraError

_RETRIES = 3  # of a shard whose worker process died
_OBJECT_STORE = 100 * 2**20  # bytes; shards are written by the workers and do not pass through it


def check_ray() -> None:
    """Raise `MissingExtraError` if Ray is not installed."""
    _import_ray()


@contextmanager
def connected(n_workers: int | None, gpus: float) -> Iterator[int]:
    """Connect to the cluster of ``$RAY_ADDRESS``, or start Ray on this machine meanwhile.

    Yields
    ------
    n_workers : int
        By default, one per processor, or per share of a GPU.

    Raises
    ------
    InvalidParameterError
        If there are fewer processors or GPUs than the workers need.
    """
    ray = _import_ray()
    is_started = not ray.is_initialized()
    if is_started:
        _start(ray)
    try:
        has = ray.cluster_resources()
        largest = int(has.get("CPU", 0))
        if gpus:
            largest = min(largest, int(has.get("GPU", 0) / gpus))
        if (n_workers or 1) > largest:
            raise InvalidParameterError(
                f"--workers must be at most {largest} here, got {n_workers or 1}: Ray has "
                f"{has.get('CPU', 0):g} processors and {has.get('GPU', 0):g} GPUs, and each worker "
                f"takes one processor and {gpus:g} GPUs."
            )
        yield n_workers or largest
    finally:
        if is_started:
            ray.shutdown()


def run_ray(
    task: ShardTask,
    parts: Iterable[Sequence[str]],
    out: ShardFolder,
    n_workers: int,
    gpus: float = 0,
) -> Iterator[Finished | Failed]:
    """Compute shards in a pool of worker processes, in the order in which they finish.

    A worker that dies is started again, and its shard is computed again: it has the same file
    name, so no image is lost or duplicated.
    """
    ray = _import_ray()
    options = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=-1, max_task_retries=_RETRIES)
    free = [options(_Worker).remote(task, out) for _ in range(n_workers)]
    waiting = iter(parts)
    running: dict[Any, tuple[Any, Sequence[str]]] = {}
    while True:
        while free and (inputs := next(waiting, None)) is not None:
            worker = free.pop()
            running[worker.finish.remote(inputs)] = worker, inputs
        if not running:
            return
        (done, *_), _ = ray.wait(list(running), num_returns=1)
        worker, inputs = running.pop(done)
        free.append(worker)
        try:
            yield ray.get(done)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, LikewiseError):
                raise error.cause from error
            raise
        except ray.exceptions.RayActorError:
            yield Failed(inputs, f"its worker process died {_RETRIES + 1} times")


class _Worker:
    """A process that computes shards."""

    def __init__(self, task: ShardTask, out: ShardFolder) -> None:
        self._task, self._out = task, out

    def finish(self, inputs: Sequence[str]) -> Finished:
        """Compute and write one shard."""
        return finish(self._task, inputs, self._out)


def _start(ray: Any) -> None:
    """Connect to a cluster, or start Ray here."""
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    address = os.environ.get("RAY_ADDRESS")
    if not address:
        ray.init(include_dashboard=False, object_store_memory=_OBJECT_STORE, **quiet)
        return
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise LikewiseError(
            f"There is no Ray cluster at RAY_ADDRESS={address} ({error}); start one with "
            "`ray start --head`, or unset RAY_ADDRESS to use this machine only."
        ) from error


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report its use to its makers
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise MissingExtraError("The engine 'ray'", "ray", "ray") from error
    return ray
