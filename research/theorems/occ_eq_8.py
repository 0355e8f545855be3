"""OCC, Eq. 8: the three terms that bound the expected clustering risk, measured."""

from typing import TYPE_CHECKING

import numpy as np

from likewise.random_streams import stream
from likewise_bench.plots.plotted_run import Request
from likewise_bench.plots.style import colour, new_figure
from research.theorems.occ_run import Epoch, epochs
from research.theorems.sampling import active_risk, probabilities

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_SHARE = 0.1  # of the pairs that are asked
_DRAWS = 200
NAMES = ("(A) excess", "(B) extended", "(C) active")


def terms(epoch: Epoch, seed: int) -> tuple[float, tuple[float, float, float]]:
    """Return the expected risk and the means of the terms (A), (B) and (C), asked uniformly."""
    losses = epoch.target
    p = probabilities(np.ones_like(losses), _SHARE * len(losses))
    extended, active = active_risk(losses, p, stream(seed, "theorems", "eq 8"), _DRAWS)
    expected = float(epoch.population.mean())
    excess = abs(expected - float(losses.mean()))
    return expected, (excess, float(extended.mean()), float(active.mean()))


def figure(request: Request) -> "Figure":
    """Return the terms against the epoch, one upon the other, and the risk they bound."""
    seed = int(request.options.get("seed", 0))
    found = [terms(epoch, seed) for epoch in epochs(request, request.options.get("epochs", 20))]
    x = np.arange(1, len(found) + 1)
    expected = np.array([one[0] for one in found])
    parts = np.array([one[1] for one in found]).T  # (3, epochs)
    canvas = new_figure(6.2, 3.8)
    axes = canvas.subplots()
    axes.stackplot(x, parts, labels=NAMES, colors=[colour(i) for i in range(3)], alpha=0.6)
    axes.plot(x, expected, color="black", label="expected clustering risk")
    share = parts.sum(axis=1) / parts.sum()
    shares = ", ".join(f"{n[:3]} {s:.0%}" for n, s in zip(NAMES, share, strict=True))
    axes.set(xlabel="epoch", ylabel="risk (1 − s over same-cluster pairs)")
    axes.set_title(f"OCC, Eq. 8: shares of the bound: {shares}")
    axes.locator_params(axis="x", integer=True)
    canvas.legend(loc="outside lower center", ncols=4)
    return canvas
