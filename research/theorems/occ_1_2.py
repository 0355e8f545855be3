"""OCC, Theorems 1 and 2: D_p, the variance and the active risk under four rules of asking."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.random_streams import stream
from likewise_bench.plots.plotted_run import Request
from likewise_bench.plots.style import colour, new_figure
from research.theorems.occ_run import Epoch, epochs
from research.theorems.sampling import active_risk, bernstein, d_p, probabilities, rules, variance

if TYPE_CHECKING:
    from matplotlib.figure import Figure


BUDGETS = (0.02, 0.05, 0.1, 0.2, 0.4)  # shares of the pairs
_DRAWS = 300


class Measured(NamedTuple):
    """Of one rule at one budget: D_p over m, variance, median |C|, and the bound on |C|."""

    d_p: float
    variance: float
    active: float
    bound: float


def measure(epoch: Epoch, seed: int) -> dict[str, list[Measured]]:
    """Return the measurements of each rule at each budget."""
    losses = np.maximum(epoch.target, 0)
    found: dict[str, list[Measured]] = {}
    for name, weights in rules(losses, epoch.csd).items():
        found[name] = []
        for share in BUDGETS:
            p = probabilities(weights, share * len(losses))
            _, active = active_risk(losses, p, stream(seed, "theorems", name), _DRAWS)
            bound = bernstein(losses, p)
            found[name].append(
                Measured(
                    d_p(losses, p) / len(losses),
                    variance(losses, p),
                    float(np.median(active)),
                    bound,
                )
            )
    return found


def figure(request: Request) -> "Figure":
    """Return three panels: D_p, which √loss minimises; the variance, which loss does; and |C|."""
    seed = int(request.options.get("seed", 0))
    last = epochs(request, request.options.get("epochs", 20))[-1]
    found = measure(last, seed)
    canvas = new_figure(9.6, 3.6)
    panels = canvas.subplots(1, 3)
    titles = ("D_p / |T|, Theorem 1", "variance of the estimate", "active risk |C|, median")
    for axes, title, field in zip(panels, titles, ("d_p", "variance", "active"), strict=True):
        for number, (name, values) in enumerate(found.items()):
            y = [getattr(value, field) for value in values]
            axes.plot(BUDGETS, y, ".-", color=colour(number), label=name)
        axes.set(xscale="log", yscale="log", title=title, xlabel="Σp / |T|, share asked")
        axes.set_xticks(BUDGETS, [f"{share:.0%}" for share in BUDGETS])
        axes.xaxis.minorticks_off()
    bounds = [value.bound for value in found["√loss"]]
    panels[2].plot(BUDGETS, bounds, "--", color="grey", label="Eq. (9), √loss")
    canvas.legend(*panels[2].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    canvas.suptitle(f"OCC, Theorems 1 and 2: {len(last.target):,} same-cluster pairs")
    return canvas
