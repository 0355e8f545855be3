"""Latency of `Likewise`: the next question, and training after ten answers."""

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
import numpy.typing as npt

from likewise.embedding.embeddings import Embeddings, LocalFeatures, grid_widths, patch_grids
from likewise.embedding.registry import make_encoder
from likewise.estimators.kernel.likewise import Likewise
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream
from likewise_bench.runner import peak_memory_mb

MILLION = {"all": 1280}
Grids = Mapping[str, tuple[int, int]]
ASKED_IN, MEMORY_MB = 0.1, 2000.0
_ANSWERS, _MORE, _K = (20, 100), 10, 10  # during the coverage phase, and after it
_PART = 50_000  # images generated at a time


@dataclass(frozen=True)
class Wait:
    """Measurements for one collection size.

    Parameters
    ----------
    start, train, question : float
        Seconds to start, to train after ten more answers, and until the next
        question; the last two are maxima.
    memory_mb : float
        Beyond the vectors.
    """

    start: float
    train: float
    question: float
    memory_mb: float


def likewise_bench() -> Iterator[str]:
    """Yield the printed rows: 60,000 images with bundled embeddings, 10^6 with plain vectors."""
    nowhere: Grids = {}
    bundled = make_encoder()
    seen = dict(bundled.blocks), dict(patch_grids(bundled))
    sizes = ((60_000, *seen, 3.0), (1_000_000, MILLION, nowhere, 20.0))
    for n_images, blocks, grids, most in sizes:
        # One process per size, because peak memory never decreases.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            wait = alone.submit(measure, n_images, blocks, grids).result()
        n_bytes = sum(grid_widths(grids).values())
        patches = f" and {n_bytes:,} bytes of patches" if grids else ""
        numbers = f"{sum(blocks.values()):,} numbers{patches} each"
        yield f"{n_images:,} images, {numbers}, up to {_ANSWERS[-1]} answers:"
        yield f"  start                        {wait.start:8.2f} s"
        yield _row("training after ten answers", wait.train, most, "s")  # the longest
        yield _row("next question, maximum", wait.question, ASKED_IN, "s")
        yield _row("memory beyond the vectors", wait.memory_mb, MEMORY_MB, "MB")


def measure(n_images: int, blocks: Mapping[str, int], grids: Grids) -> Wait:
    """Return the measurements for `n_images` images."""
    X, truth = _collection(n_images, blocks, grids)
    oracle, before = LabelOracle(truth), peak_memory_mb()
    model = Likewise(_K, random_state=0)
    began = time.perf_counter()
    model.start(X)
    started = time.perf_counter() - began
    waits, trained = list[float](), list[float]()
    for n_answers in _ANSWERS:
        _converse(model, oracle, n_answers - model.constraints_.n_answers)
        model.train()
        waits += _converse(model, oracle, _MORE)
        began = time.perf_counter()
        model.train()
        trained.append(time.perf_counter() - began)
        began = time.perf_counter()
        model.ask(_MORE)  # on the page the worker prepares this before it is requested
        waits.append((time.perf_counter() - began) / _MORE)
    return Wait(started, max(trained), max(waits), peak_memory_mb() - before)


def _converse(model: Likewise, oracle: LabelOracle, n: int) -> list[float]:
    """Return the seconds from each answer to the next question."""
    waits = []
    questions = model.ask(1)
    for _ in range(n):
        answers = oracle.answer(questions)
        began = time.perf_counter()
        model.tell(questions, answers)
        questions = model.ask(1)
        waits.append(time.perf_counter() - began)
    return waits


def _collection(
    n_images: int, blocks: Mapping[str, int], grids: Grids
) -> tuple[Embeddings, npt.NDArray[np.intp]]:
    """Return vectors in ten overlapping Gaussian clusters, and the cluster of each."""
    rng = stream(0, "speed of likewise")
    truth = rng.integers(_K, size=n_images)
    centres = rng.standard_normal((_K, sum(blocks.values())), dtype=np.float32)
    rows = np.empty((n_images, centres.shape[1]), dtype=np.float32)
    for at in range(0, n_images, _PART):
        part = slice(at, min(at + _PART, n_images))
        rng.standard_normal(dtype=np.float32, out=rows[part])
        rows[part] += centres[truth[part]]
    patches = None
    if grids:
        noise = rng.integers(0, 256, (n_images, sum(grid_widths(grids).values())), dtype=np.uint8)
        patches = LocalFeatures(noise, grids, np.arange(n_images))
    return Embeddings.from_matrix(rows, blocks, local_features=patches), truth


def _row(what: str, value: float, most: float, unit: str) -> str:
    verdict = "holds" if value <= most else "DOES NOT HOLD"
    return f"  {what:<28} {value:8.2f} {unit} (at most {most:g}: {verdict})"
