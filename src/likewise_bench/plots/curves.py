"""ACC and NMI against the number of answers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise_bench.plots.plotted_run import Request
from likewise_bench.plots.style import COLOURS, colour, legend_below, new_figure
from likewise_bench.tables.aggregate import Group, Task, tasks, variants

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_METRICS = {"acc": "ACC", "nmi": "NMI"}
_MARKERS = ("o", "^", "s", "x")
_TRIVIAL = {
    "majority_acc": ("everything in one group", (0, (1, 3))),
    "other_criterion_acc": ("perfect other criterion", (0, (4, 3))),
}


def answer_curves(request: Request) -> "Figure":
    """Return two panels per task; solid: training images, dashed: held-out images.

    Each point is the mean of the runs with that budget, the band their standard deviation. The
    point at 0 is a run without questions, or k-means if there is none. A ring marks runs whose
    budget covers every image: the fully supervised limit.
    """
    shown = [task for task in tasks(request.needed_rows()) if task.rows]
    figure = new_figure(8.5, 2.9 * len(shown) + 0.6)
    panels = figure.subplots(len(shown), 2, squeeze=False)
    names = list(dict.fromkeys(name for task in shown for name in variants(task.groups)))
    for line, task in zip(panels, shown, strict=True):
        for axes, metric in zip(line, _METRICS, strict=True):
            _draw(axes, task, metric, names)
    ended = any(_is_full(group) for task in shown for group in task.groups)
    legend_below(figure, _handles(names, any(_tested(task) for task in shown), ended))
    return figure


def _draw(axes: Any, task: Task, metric: str, names: Sequence[str]) -> None:
    zero = _zero(task, metric)
    for name, of in variants(task.groups).items():
        ink, marker = _colour_and_marker(names.index(name))
        for part, style in (("all", "-"), ("test", "--")):
            points = _points(of, metric, part, zero)
            if points:
                _draw_line(axes, points, ink, style, marker)
                _mark_ends(axes, of, metric, part, ink)
    baselines: Mapping[str, Any] = task.rows[0]["baselines"]
    for name, (_, dashes) in _TRIVIAL.items():
        if metric == "acc" and baselines[name] is not None:
            axes.axhline(baselines[name], color="grey", linewidth=0.8, linestyle=dashes)
    axes.set_xscale("symlog", linthresh=10)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set(xlabel="answers", ylabel=_METRICS[metric], title=f"{task.name}\n{task.regime}")


def _zero(task: Task, metric: str) -> float | None:
    """Return the starting point of curves without a run at 0 questions: k-means."""
    if metric == "acc":
        return float(np.mean([row["baselines"]["kmeans_acc"] for row in task.rows]))
    plain = [g for g in task.groups if g.method == "kmeans" and "settings" not in g.spec]
    scores = [s for group in plain for s in group.scores(metric, "all") if s is not None]
    return float(np.mean(scores)) if scores else None


def _points(
    of: Sequence[Group], metric: str, part: str, zero: float | None
) -> list[tuple[float, float, float]]:
    """Return number of answers, mean and standard deviation per budget."""
    found = [point for group in of for point in _point(group, metric, part)]
    if part == "all" and zero is not None and found and min(found)[0] > 0:
        found.append((0.0, zero, 0.0))
    return sorted(found)


def _point(group: Group, metric: str, part: str) -> list[tuple[float, float, float]]:
    scores = [score for score in group.scores(metric, part) if score is not None]
    if not scores:
        return []
    answers = float(np.mean([row["n_answers"] for row in group.rows]))
    spread = float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0
    return [(answers, float(np.mean(scores)), spread)]


def _colour_and_marker(number: int) -> tuple[str, str]:
    """Return colour and marker; the marker changes when colours repeat."""
    return colour(number), _MARKERS[number // len(COLOURS) % len(_MARKERS)]


def _draw_line(
    axes: Any, points: list[tuple[float, float, float]], ink: str, style: str, marker: str
) -> None:
    answers, means, spreads = np.array(points).T
    look: dict[str, Any] = {"color": ink, "linewidth": 1.2, "marker": marker, "markersize": 4}
    if len(points) == 1 and answers[0] == 0:  # asks nothing: same score at every budget
        axes.plot([0, 1], [means[0]] * 2, style, transform=axes.get_yaxis_transform(), **look)
        return
    axes.plot(answers, means, style, **look)
    axes.fill_between(answers, means - spreads, means + spreads, color=ink, alpha=0.15, linewidth=0)


def _mark_ends(axes: Any, of: Sequence[Group], metric: str, part: str, ink: str) -> None:
    ring: dict[str, Any] = {"markersize": 10, "markerfacecolor": "none", "clip_on": False}
    for group in filter(_is_full, of):
        for answers, mean, _ in _point(group, metric, part):
            axes.plot(answers, mean, "o", color=ink, **ring)


def _is_full(group: Group) -> bool:
    """Return whether the budget covers every image."""
    return group.asks and any(group.n_questions >= row["n_images"] for row in group.rows)


def _tested(task: Task) -> bool:
    return any(row["test"] for row in task.rows)


def _handles(names: Sequence[str], tested: bool, ended: bool) -> list[Any]:
    from matplotlib.lines import Line2D

    lines = []
    for number, name in enumerate(names):
        ink, marker = _colour_and_marker(number)
        lines.append(Line2D([], [], color=ink, marker=marker, markersize=4, label=name))
    for text, dashes in _TRIVIAL.values():
        lines.append(Line2D([], [], color="grey", linewidth=0.8, linestyle=dashes, label=text))
    if tested:
        lines.append(Line2D([], [], color="black", linestyle="--", label="held-out images"))
    if ended:
        ring: dict[str, Any] = {"marker": "o", "markersize": 9, "markerfacecolor": "none"}
        lines.append(
            Line2D([], [], color="black", linestyle="", **ring, label="all images labelled")
        )
    return lines
