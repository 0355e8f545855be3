"""ACC and NMI against the number of answers, with their spread, and both ends."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.benchmark.plots.canvas import colour, legend_below, new_figure
from likewise.benchmark.plots.request import Request
from likewise.benchmark.tables.groups import Group, Task, tasks, variants

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METRICS = {"acc": "ACC", "nmi": "NMI"}
_TRIVIAL = {
    "majority_acc": ("everything in one group", (0, (1, 3))),
    "other_orientation_acc": ("perfect other orientation", (0, (4, 3))),
}


def answer_curves(request: Request) -> "Figure":
    """Return a line of two panels a task; solid: images learned from, dashed: held out.

    Every point is the mean of runs with that budget, the band their standard deviation. The
    point at 0 is a run without questions, or k-means where there is none; a ring is a run
    that was told every label, the fully supervised end.
    """
    shown = [task for task in tasks(request.needed_rows()) if task.rows]
    figure = new_figure(8.5, 2.9 * len(shown) + 0.6)
    panels = figure.subplots(len(shown), 2, squeeze=False)
    names = list(dict.fromkeys(name for task in shown for name in variants(task.groups)))
    for line, task in zip(panels, shown, strict=True):
        for axes, metric in zip(line, _METRICS, strict=True):
            _draw(axes, task, metric, names)
    legend_below(figure, _handles(names, any(_tested(task) for task in shown)))
    return figure


def _draw(axes: Any, task: Task, metric: str, names: Sequence[str]) -> None:
    for name, of in variants(task.groups).items():
        for part, style in (("all", "-"), ("test", "--")):
            points = _points(of, metric, part)
            if points:
                _draw_line(axes, points, colour(names.index(name)), style)
                _mark_ends(axes, of, points, colour(names.index(name)))
    baselines: Mapping[str, Any] = task.rows[0]["baselines"]
    for name, (_, dashes) in _TRIVIAL.items():
        if metric == "acc" and baselines[name] is not None:
            axes.axhline(baselines[name], color="grey", linewidth=0.8, linestyle=dashes)
    axes.set_xscale("symlog", linthresh=10)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set(xlabel="answers", ylabel=_METRICS[metric], title=f"{task.name}\n{task.regime}")


def _points(of: Sequence[Group], metric: str, part: str) -> list[tuple[float, float, float]]:
    """Return answers, mean and spread of each budget, by the number of answers."""
    found = []
    for group in of:
        marks = [mark for mark in group.marks(metric, part) if mark is not None]
        if marks:
            answers = float(np.mean([row["n_answers"] for row in group.rows]))
            spread = float(np.std(marks, ddof=1)) if len(marks) > 1 else 0.0
            found.append((answers, float(np.mean(marks)), spread))
    if metric == "acc" and part == "all" and found and min(found)[0] > 0:
        zero = [row["baselines"]["kmeans_acc"] for group in of for row in group.rows]
        found.append((0.0, float(np.mean(zero)), 0.0))
    return sorted(found)


def _draw_line(axes: Any, points: list[tuple[float, float, float]], ink: str, style: str) -> None:
    answers, means, spreads = np.array(points).T
    if len(points) == 1 and answers[0] == 0:  # asks nothing: the same at every budget
        axes.axhline(means[0], color=ink, linewidth=1.2, linestyle=style)
        return
    axes.plot(answers, means, style, color=ink, marker=".", markersize=6, linewidth=1.2)
    axes.fill_between(answers, means - spreads, means + spreads, color=ink, alpha=0.15, linewidth=0)


def _mark_ends(
    axes: Any, of: Sequence[Group], points: list[tuple[float, float, float]], ink: str
) -> None:
    n_images = max(row["n_images"] for group in of for row in group.rows)
    for answers, mean, _ in points:
        if answers >= n_images:
            axes.plot(
                answers, mean, "o", markersize=10, markerfacecolor="none", color=ink, clip_on=False
            )


def _tested(task: Task) -> bool:
    return any(row["test"] for row in task.rows)


def _handles(names: Sequence[str], tested: bool) -> list[Any]:
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=colour(i), marker=".", label=n) for i, n in enumerate(names)]
    for text, dashes in _TRIVIAL.values():
        lines.append(Line2D([], [], color="grey", linewidth=0.8, linestyle=dashes, label=text))
    if tested:
        lines.append(Line2D([], [], color="black", linestyle="--", label="images held out"))
    ring: dict[str, Any] = {"marker": "o", "markersize": 9, "markerfacecolor": "none"}
    lines.append(Line2D([], [], color="black", linestyle="", **ring, label="every label told"))
    return lines
