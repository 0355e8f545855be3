"""PCL, Theorem 3.1: with every question answered, the risk on N images comes near the true one."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch

from likewise_bench.plots.plotted_run import Request
from likewise_bench.plots.style import colour, new_figure
from research.theorems.problem import Batch, loss, make_batch, solve

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SIZES = (16, 32, 64, 128, 256)
_AWAY = 1024  # images that represent the population


def excess(
    n: int, n_draws: int, seed: int, n_away: int | None = None
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    r"""Return :math:`|\hat L_Q(\hat f_Q) - L_Q(f^*_Q)|` of several draws of n images.

    The population are batches of n images that no draw uses; :math:`f^*` minimises the mean
    loss over half of them. That is too low on this half and too high on the other, so the
    mean of the two is taken.
    """
    n_away = n_away or max(_AWAY // n, 4)
    away = [make_batch(n, seed, "population", n, i) for i in range(n_away)]
    best, _ = solve(partial(_mean_loss, away[: n_away // 2]), seed)
    with torch.no_grad():
        population = float(_mean_loss(away, best))
    draws = [make_batch(n, seed, "draw", n, i) for i in range(n_draws)]
    minima = [solve(partial(_mean_loss, [b]), seed, starts=[best])[1] for b in draws]
    return np.abs(np.array(minima) - population)


def _mean_loss(batches: list[Batch], weights: torch.Tensor) -> torch.Tensor:
    return torch.stack([loss(b.views @ weights, b.truth) for b in batches]).mean()


def figure(request: Request) -> "Figure":
    """Return the excess risk against N, with the rate the theorem promises."""
    n_draws, seed = request.options.get("n") or 6, int(request.options.get("seed", 0))
    found = [excess(n, n_draws, seed) for n in SIZES]
    means = np.array([values.mean() for values in found])
    slope = float(np.polyfit(np.log(SIZES), np.log(means), 1)[0])
    canvas = new_figure(4.8, 3.6)
    axes = canvas.subplots()
    for n, values in zip(SIZES, found, strict=True):
        axes.plot([n] * len(values), values, ".", color=colour(0), alpha=0.35, markersize=5)
    axes.plot(SIZES, means, "o-", color=colour(0), label=f"mean of {n_draws}, slope {slope:.2f}")
    rate = means[0] * np.sqrt(SIZES[0] / np.array(SIZES))
    axes.plot(SIZES, rate, "--", color="grey", label="1/√N from the first")
    axes.set(xscale="log", yscale="log", xlabel="N, images in the batch")
    axes.set(ylabel="|training loss − population loss|", title="PCL, Theorem 3.1")
    axes.set_xticks(SIZES, [str(n) for n in SIZES], minor=False)
    axes.minorticks_off()
    axes.legend()
    return canvas
