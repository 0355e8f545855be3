"""Both orientations of one collection: the groups found for each, a line of pictures a group."""

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.benchmark.plots.canvas import new_figure, show_picture
from likewise.benchmark.plots.request import Request
from likewise.benchmark.plots.stage import Stage, set_up
from likewise.benchmark.run import load
from likewise.errors import DatasetError
from likewise.metrics import accuracy
from likewise.seeds import stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_GROUPS = 8


def grids(request: Request) -> "Figure":
    """Return the groups by the wanted orientation and by the next one, side by side.

    The same method with the same budget sorts the same pictures twice; only the answers
    differ. Pictures are drawn at random from each group.
    """
    run = request.needed_run()
    names = list(load(run).orientations)
    first = run.orientation or names[0]
    other = request.options.get("other") or next((n for n in names if n != first), None)
    if other is None:
        raise DatasetError(f"This set can be sorted by {first!r} only, so there is no other grid.")
    if other == first:
        raise DatasetError(
            f"Both grids would be sorted by {first!r}; name another one after --other, or leave it "
            "out."
        )
    stages = [set_up(replace(run, orientation=name)) for name in (first, other)]
    for stage in stages:
        stage.play()
    n_shown = request.options.get("n") or 8
    n_lines = max(min(stage.model.n_clusters, _MOST_GROUPS) for stage in stages)
    figure = new_figure(2 * (0.62 * n_shown + 1.1), 0.68 * n_lines + 0.7)
    halves: Any = figure.subfigures(1, 2, wspace=0.04)
    for part, stage in zip(halves, stages, strict=True):
        _draw(part, stage, n_shown, n_lines)
    return figure


def _draw(part: Any, stage: Stage, n_shown: int, n_lines: int) -> None:
    found = stage.model.labels_
    panels = part.subplots(n_lines, n_shown, squeeze=False)
    rng = stream(stage.run.seed, "figure", "grid", stage.judge.orientation)
    groups = [group for group, _ in Counter(found.tolist()).most_common(n_lines)]
    for line, group in zip(panels, groups, strict=False):
        members = np.flatnonzero(found == group)
        chosen = rng.permutation(members)[:n_shown]
        for axes, image in zip(line, chosen, strict=False):
            show_picture(axes, stage.pixels(int(image)))
        name, n = Counter(stage.truth[members].tolist()).most_common(1)[0]
        text = f"{name}\n{n / len(members):.0%} of {len(members):,}"
        line[0].set_ylabel(text, rotation=0, ha="right", va="center", fontsize=7)
    for axes in panels.flat:
        if not axes.images:
            axes.set_axis_off()
    acc = accuracy(stage.truth, found)
    part.suptitle(f"by {stage.judge.orientation}: {stage.run.n_questions:,} answers, ACC {acc:.2f}")
