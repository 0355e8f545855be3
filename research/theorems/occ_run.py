"""OCC while it learns: the loss of same-cluster pairs, epoch by epoch, seen and not seen."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.random_streams import stream
from likewise_bench.plots.contrastive import epoch_by_epoch
from likewise_bench.plots.plotted_run import Request, set_up
from likewise_bench.spec import RunSpec

Floats = npt.NDArray[np.float64]
_PAIRS = 3000


@dataclass(frozen=True)
class Epoch:
    """Losses 1 - s of same-cluster pairs, and CSD scores of those that may be asked.

    Attributes
    ----------
    target, population : array of shape (m,)
        Pairs among the first half of the images, T in the paper, and among the other half,
        which represents the population.
    csd : array of shape (m,)
    """

    target: Floats
    population: Floats
    csd: Floats


def epochs(request: Request, n_epochs: int) -> list[Epoch]:
    """Train OCC and return the losses of the pairs after every epoch."""
    seed = int(request.options.get("seed", 0))
    run = epoch_by_epoch(request.run or _usual(seed), n_epochs)
    plotted = set_up(run)
    half = plotted.n_images // 2
    seen = _same_pairs(plotted.labels[:half], seed, "target")
    unseen = _same_pairs(plotted.labels[half:], seed, "population") + half
    found: list[Epoch] = []
    plotted.model.start(plotted.inputs.train)
    before = plotted.model.transform(plotted.inputs.train)

    def look(_: object) -> None:
        nonlocal before
        rows = plotted.model.transform(plotted.inputs.train)
        s, was = _cosines(rows, seen), _cosines(before, seen)
        found.append(Epoch(1 - s, 1 - _cosines(rows, unseen), s * np.abs(s - was)))
        before = rows

    plotted.fit(look)
    return found


def _usual(seed: int) -> RunSpec:
    return RunSpec(
        "occ",
        dataset="digits",
        criterion="digit",
        n_images=400,
        n_questions=200,
        seed=seed,
        settings={"candidates": "anchored"},
    )


def _same_pairs(labels: npt.NDArray[np.str_], seed: int, name: str) -> npt.NDArray[np.intp]:
    i, j = np.triu_indices(len(labels), k=1)
    pairs = np.column_stack([i, j])[labels[i] == labels[j]]
    chosen: npt.NDArray[np.intp] = pairs[
        stream(seed, "theorems", name).permutation(len(pairs))[:_PAIRS]
    ]
    return chosen


def _cosines(rows: npt.NDArray[np.float32], pairs: npt.NDArray[np.intp]) -> Floats:
    wide = rows.astype(np.float64)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True).clip(1e-12)
    found: Floats = (wide[pairs[:, 0]] * wide[pairs[:, 1]]).sum(axis=1)
    return found
