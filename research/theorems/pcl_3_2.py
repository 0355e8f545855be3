"""PCL, Theorem 3.2: whether each answer brings the least loss nearer to that with all answers."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from likewise_bench.plots.plotted_run import Request
from likewise_bench.plots.style import colour, new_figure
from research.theorems.problem import Batch, answer_order, loss, make_batch, solve, told

if TYPE_CHECKING:
    from matplotlib.figure import Figure


N = 16


@dataclass(frozen=True)
class Gaps:
    """The gap to the fully queried loss after q answers.

    Attributes
    ----------
    q : array of shape (m,)
    gap : array of shape (m,)
    is_same : array of shape (n_first,)
        The first answers, in order.
    """

    q: np.ndarray[tuple[int], np.dtype[np.intp]]
    gap: np.ndarray[tuple[int], np.dtype[np.float64]]
    is_same: np.ndarray[tuple[int], np.dtype[np.bool_]]

    def share_shrinking(self, is_same: bool) -> tuple[int, int]:
        """Return after how many first answers of a kind the gap was not larger, and of how many."""
        steps = np.diff(self.gap[: len(self.is_same) + 1]) <= 1e-9
        chosen = steps[self.is_same == is_same]
        return int(chosen.sum()), len(chosen)


def gaps(n: int, n_first: int, seed: int, mu: str = "code", n_later: int = 6) -> Gaps:
    r"""Return :math:`|\hat L_q(\hat f_q) - \hat L_Q(\hat f_Q)|`, one question after the other.

    Questions are drawn at random; implied relations are not used, as in the
    theorem. The least loss is found from the last solution and from fresh starts.
    """
    batch, pairs = make_batch(n, seed, "gap"), answer_order(n, seed)
    later = np.unique(np.geomspace(n_first + 1, len(pairs), n_later).astype(int))
    counts = np.concatenate([np.arange(n_first + 1), later])
    minima: list[float] = []
    last: tuple[Tensor, ...] = ()
    for q in counts:
        objective = partial(_loss, batch, told(batch.truth, pairs[:q]), mu)
        weights, value = solve(objective, seed, starts=last)
        minima.append(value)
        last = (weights,)
    first = batch.truth.numpy()[tuple(pairs[:n_first].T)] == 1
    return Gaps(counts, np.abs(np.array(minima) - minima[-1]), first)


def _loss(batch: Batch, known: Tensor, mu: str, weights: Tensor) -> Tensor:
    return loss(batch.views @ weights, known, mu=mu)


def figure(request: Request) -> "Figure":
    """Return the gap against the number of answers, for both readings of the factor μ."""
    n_first, seed = request.options.get("n") or 12, int(request.options.get("seed", 0))
    canvas = new_figure(8.4, 3.7)
    for axes, mu in zip(canvas.subplots(1, 2, sharey=True), ("code", "none"), strict=True):
        runs = [gaps(N, n_first, seed + number, mu) for number in range(3)]
        for number, run in enumerate(runs):
            axes.plot(run.q, run.gap, ".-", color=colour(number), label=f"seed {seed + number}")
        words = []
        for is_same, word in ((True, "must-link"), (False, "cannot-link")):
            smaller, n = np.sum([run.share_shrinking(is_same) for run in runs], axis=0)
            words.append(f"{word} {smaller} of {n}")
        name = {"code": "with μ (authors' code)", "none": "without μ"}[mu]
        axes.set_title(f"{name}\nnearer after: {', '.join(words)}")
        axes.set_xscale("symlog", linthresh=n_first)
        axes.set(xlabel=f"q, answers (of {N * (N - 1) // 2})")
        axes.axvline(n_first, color="grey", linewidth=0.6, linestyle=":")
    canvas.axes[0].set_ylabel("gap to the fully queried loss")
    canvas.axes[0].legend()
    canvas.suptitle(f"PCL, Theorem 3.2, n = {N}, linear network, solved")
    return canvas
