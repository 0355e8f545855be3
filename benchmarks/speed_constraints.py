"""Speed of the constraint graph: a million images, a hundred thousand answers."""

import gc
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import numpy.typing as npt

from likewise.constraints.assignment import constrained_assignment
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question
from likewise.random_streams import stream
from likewise_bench.runner import peak_memory_mb


@dataclass(frozen=True)
class Row:
    """One measurement in seconds of processor time, and its limit."""

    case: str
    what: str
    typical: float
    worst: float
    limit: float

    def __str__(self) -> str:
        verdict = "ok" if self.typical <= self.limit else "TOO SLOW"
        times = [f"{1e6 * value:>10,.1f}" for value in (self.typical, self.worst, self.limit)]
        return f"{self.case:<34} {self.what:<26} {' '.join(times)}  {verdict}"


CASES = {  # number of images with answers, number of groups, `two_groups`
    "on all images, 10 groups": (1_000_000, 10, False),
    "on 20,000 images, 10 groups": (20_000, 10, False),
    "on 20,000 images, 2 groups": (20_000, 2, False),
    "on 20,000 images, 2 groups, two_groups": (20_000, 2, True),
}


def constraints_bench(n_images: int = 1_000_000, n_answers: int = 100_000) -> None:
    """Print a row for each measurement: typical time, worst time and limit in microseconds."""
    write = sys.stdout.write
    write(f"constraint graph, {n_images:,} images, {n_answers:,} answers; µs of processor time\n")
    write(f"{'':<61} {'typical':>10} {'worst':>10} {'limit':>10}\n")
    for case, (n_touched, n_groups, two_groups) in CASES.items():
        rng = stream(0, "speed", case)
        answers = consistent_answers(min(n_touched, n_images), n_groups, n_answers, rng)
        empty = partial(ConstraintGraph, n_images, two_groups=two_groups)
        telling, graph = time_telling(case, empty, answers)
        for row in (telling, *time_graph(case, graph, answers, rng)):
            write(f"{row}\n")
    write(f"{time_retraction(stream(0, 'speed', 'retraction'), n_answers // 50)}\n")
    write(f"{time_assignment(stream(0, 'speed', 'assignment'))}\n")
    for case in CASES:
        megabytes = _memory_of(case, n_images, n_answers)
        write(f"{case:<34} {'memory of the process':<26} {megabytes:>10,.0f} MB of 300\n")


def consistent_answers(
    n_images: int, n_groups: int, n_answers: int, rng: np.random.Generator
) -> list[Answer]:
    """Return answers about random pairs, all correct for random groups."""
    groups = rng.integers(n_groups, size=n_images)
    first = rng.integers(n_images, size=n_answers)
    second = (first + rng.integers(1, n_images, size=n_answers)) % n_images
    values = np.where(groups[first] == groups[second], "same", "different").tolist()
    pairs = zip(first.tolist(), second.tolist(), values, strict=True)
    return [Answer(Question.pair(i, j), value) for i, j, value in pairs]


def time_telling(
    case: str, empty: Callable[[], ConstraintGraph], answers: Sequence[Answer]
) -> tuple[Row, ConstraintGraph]:
    """Time an answer on average over all, three times; also return the last graph."""
    seconds = []
    for _ in range(3):
        graph = empty()
        gc.collect()
        begin = time.process_time()
        for answer in answers:
            graph.tell(answer)
        seconds.append((time.process_time() - begin) / len(answers))
    return Row(case, "an answer", float(np.median(seconds)), max(seconds), 15e-6), graph


def time_graph(
    case: str, graph: ConstraintGraph, answers: Sequence[Answer], rng: np.random.Generator
) -> Iterator[Row]:
    """Time the queries on a graph with `answers`."""
    touched = np.array([answer.question.images for answer in answers])
    batches = iter(rng.choice(touched.ravel(), size=(50, 256)))
    yield _row(case, "relations of 256", lambda: graph.relations(next(batches)), 50, 5e-3)
    known = iter(_known_pairs(graph, touched, rng).tolist())
    yield _row(case, "a proof", lambda: graph.proof(*next(known)), 200, 10e-3)
    yield _row(case, "groups of all images", graph.groups, 5, 50e-3)


def time_retraction(rng: np.random.Generator, n_answers: int = 2_000) -> Row:
    """Time a retraction, which replays all answers, with the next query."""
    graph = ConstraintGraph(60_000)
    for answer in consistent_answers(60_000, 10, n_answers, rng):
        graph.tell(answer)
    retracted = iter(rng.permutation(n_answers).tolist())

    def retract() -> None:
        graph.retract(next(retracted))
        graph.relation(0, 1)

    return _row(f"60,000 images, {n_answers:,} answers", "a retraction", retract, 10, 20e-3)


def time_assignment(rng: np.random.Generator) -> Row:
    """Time the constrained assignment of 60,000 images with 1,000 answers."""
    graph = ConstraintGraph(60_000)
    for answer in consistent_answers(60_000, 10, 1_000, rng):
        graph.tell(answer)
    probabilities = rng.dirichlet(np.ones(10), size=60_000)
    constrained_assignment(probabilities, graph)  # the first call also imports scipy
    return _row(
        "60,000 images, 1,000 answers",
        "constrained assignment",
        lambda: constrained_assignment(probabilities, graph),
        5,
        0.1,
    )


def _known_pairs(
    graph: ConstraintGraph, touched: npt.NDArray[np.intp], rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Return pairs with a relation: implied ones first, then given ones."""
    pairs = rng.choice(touched.ravel(), size=(20_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return np.concatenate([pairs[graph.pair_relations(pairs) != 0], touched[:200]])


def _row(case: str, what: str, call: Callable[[], object], n_times: int, limit: float) -> Row:
    """Time a call several times."""
    seconds = []
    for _ in range(n_times):
        begin = time.process_time()
        call()
        seconds.append(time.process_time() - begin)
    return Row(case, what, float(np.median(seconds)), max(seconds), limit)


def _memory_of(case: str, n_images: int, n_answers: int) -> float:
    """Return the peak memory of a process with one graph, in megabytes."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_peak_with_graph, case, n_images, n_answers).result()


def _peak_with_graph(case: str, n_images: int, n_answers: int) -> float:
    """Build one graph in this process and return its peak memory."""
    n_touched, n_groups, two_groups = CASES[case]
    graph = ConstraintGraph(n_images, two_groups=two_groups)
    rng = stream(0, "speed", case)
    for answer in consistent_answers(min(n_touched, n_images), n_groups, n_answers, rng):
        graph.tell(answer)
    graph.groups()
    own = re.search(r"VmHWM:\s+(\d+) kB", _status())
    return int(own[1]) / 2**10 if own else peak_memory_mb()


def _status() -> str:
    """Return the status of this process on Linux; `resource` includes the parent process."""
    status = Path("/proc/self/status")
    return status.read_text() if status.exists() else ""


if __name__ == "__main__":
    constraints_bench()
