"""Sample images of each group for two criteria of one data set."""

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import DatasetError
from likewise.metrics import accuracy
from likewise.random_streams import stream
from likewise_bench.plots.plotted_run import PlottedRun, Request, set_up
from likewise_bench.plots.style import new_figure, show_picture
from likewise_bench.runner import load

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MOST_GROUPS = 8


def grids(request: Request) -> "Figure":
    """Return the groups by the wanted criterion and by the next one, side by side.

    The same method with the same budget sorts the same pictures twice; only the answers
    differ. Pictures are drawn at random from each group.
    """
    run = request.needed_run()
    names = list(load(run).criteria)
    first = run.criterion or names[0]
    other = request.options.get("other") or next((n for n in names if n != first), None)
    if other is None:
        raise DatasetError(f"The data set has only the criterion {first!r}; this figure needs two.")
    if other == first:
        raise DatasetError(
            f"Both grids would show {first!r}; give another criterion with --other, or leave it "
            "out."
        )
    runs = [set_up(replace(run, criterion=name)) for name in (first, other)]
    for plotted in runs:
        plotted.fit()
    n_shown = request.options.get("n") or 8
    n_lines = max(min(plotted.model.n_clusters, _MOST_GROUPS) for plotted in runs)
    figure = new_figure(2 * (0.62 * n_shown + 1.1), 0.68 * n_lines + 0.7)
    halves: Any = figure.subfigures(1, 2, wspace=0.04)
    for part, plotted in zip(halves, runs, strict=True):
        _draw(part, plotted, n_shown, n_lines)
    return figure


def _draw(part: Any, plotted: PlottedRun, n_shown: int, n_lines: int) -> None:
    found = plotted.model.labels_
    panels = part.subplots(n_lines, n_shown, squeeze=False)
    rng = stream(plotted.run.seed, "figure", "grid", plotted.ground_truth.criterion)
    groups = [group for group, _ in Counter(found.tolist()).most_common(n_lines)]
    for line, group in zip(panels, groups, strict=False):
        members = np.flatnonzero(found == group)
        chosen = rng.permutation(members)[:n_shown]
        for axes, image in zip(line, chosen, strict=False):
            show_picture(axes, plotted.pixels(int(image)))
        name, n = Counter(plotted.labels[members].tolist()).most_common(1)[0]
        text = f"{name}\n{n / len(members):.0%} of {len(members):,}"
        line[0].set_ylabel(text, rotation=0, ha="right", va="center", fontsize=7)
    for axes in panels.flat:
        if not axes.images:
            axes.set_axis_off()
    acc = accuracy(plotted.labels, found)
    part.suptitle(
        f"by {plotted.ground_truth.criterion}: {plotted.run.n_questions:,} answers, ACC {acc:.2f}"
    )
