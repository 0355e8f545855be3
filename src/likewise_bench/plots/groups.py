"""Figures of the groups found: two-dimensional maps, and sample images of each group."""

import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from likewise.errors import DatasetError, InvalidParameterError, UnknownNameError
from likewise.metrics import accuracy
from likewise.oracles.base import CountingOracle
from likewise.random_streams import derive, stream
from likewise_bench.plots.contrastive import epoch_by_epoch, trains_in_epochs
from likewise_bench.plots.plotted_run import PlottedRun, Request, indexes_of, set_up
from likewise_bench.plots.style import colour, new_figure, show_image
from likewise_bench.runner import load

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MAX_POINTS = 1500  # limits the time of t-SNE
PROJECTIONS = ("tsne", "umap")
Points = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Snapshot:
    """Snapshot of the model: embeddings, clusters and number of answers."""

    when: int
    rows: Points
    clusters: npt.NDArray[np.intp]


def maps(request: Request) -> "Figure":
    """Return a grid of panels: predictions above, true classes below, one column per snapshot.

    Snapshots are chosen by number of epochs for methods that train in epochs and ask nothing in
    this run, else by number of answers; the nearest available snapshot is shown.
    """
    run = request.needed_run()
    by = request.options.get("by", "tsne")
    if by not in PROJECTIONS:
        raise UnknownNameError("projection", by, PROJECTIONS)
    in_epochs = run.n_questions == 0
    wanted = request.options.get("at") or [0, 5, 20]
    if in_epochs and not trains_in_epochs(run):
        raise InvalidParameterError(
            f"The method {run.method!r} does not train in epochs; give --questions, and --at is "
            "then a number of answers."
        )
    plotted = set_up(epoch_by_epoch(run, max(*wanted, 1)) if in_epochs else run)
    snapshots = _watch(plotted, in_epochs)
    shown = [min(snapshots, key=lambda snapshot: abs(snapshot.when - at)) for at in wanted]
    return _draw_maps(plotted, shown, by, "epochs" if in_epochs else "answers")


def _watch(plotted: PlottedRun, in_epochs: bool) -> list[Snapshot]:
    some = indexes_of(plotted, _MAX_POINTS, plotted.run.seed)
    found: list[Snapshot] = []

    def look(oracle: CountingOracle | None) -> None:
        answers = 0 if oracle is None else oracle.n_answers
        when = len(found) if in_epochs else answers
        rows = plotted.model.transform(plotted.inputs.train)[some]
        found.append(Snapshot(when, rows, plotted.model.labels_[some]))

    plotted.model.start(plotted.inputs.train)
    look(None)
    plotted.fit(look)
    return found


def project(rows: Points, by: str, seed: int) -> Points:
    """Return a two-dimensional projection of the rows."""
    state = derive(seed, "figure", by) % 2**31
    if by == "umap":
        try:
            from umap import UMAP
        except ImportError as error:
            raise InvalidParameterError(
                "by='umap' needs the package umap-learn, which is not installed; install it with "
                "`pip install umap-learn`, or use --projection tsne."
            ) from error
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a seed limits UMAP to one thread
            flat: Points = UMAP(random_state=state).fit_transform(rows)
        return flat
    from sklearn.manifold import TSNE

    perplexity = min(30.0, max(len(rows) / 4, 2.0))
    placed: Points = TSNE(perplexity=perplexity, random_state=state).fit_transform(rows)
    return placed


def _draw_maps(plotted: PlottedRun, shown: list[Snapshot], by: str, unit: str) -> "Figure":
    truth = plotted.labels[indexes_of(plotted, _MAX_POINTS, plotted.run.seed)]
    names, classes = np.unique(truth, return_inverse=True)
    figure = new_figure(2.6 * len(shown) + 1.6, 5.2)
    panels = figure.subplots(2, len(shown), squeeze=False)
    for (above, below), snapshot in zip(panels.T, shown, strict=True):
        points = project(snapshot.rows, by, plotted.run.seed)
        _scatter(above, points, in_colours_of(snapshot.clusters, classes))
        _scatter(below, points, classes)
        acc = accuracy(truth, snapshot.clusters)
        above.set_title(f"{snapshot.when:,} {unit}, ACC {acc:.2f}")
    panels[0, 0].set_ylabel("by prediction")
    panels[1, 0].set_ylabel("by truth")
    _legend(panels[1, -1], names)
    figure.suptitle(
        f"{plotted.run.method} on {plotted.dataset.name} by {plotted.ground_truth.criterion}"
    )
    return figure


def in_colours_of(
    clusters: npt.NDArray[np.intp], classes: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """Return clusters renumbered by a one-to-one matching to classes.

    Examples
    --------
    >>> in_colours_of(np.array([5, 5, 2]), np.array([0, 0, 1])).tolist()
    [0, 0, 1]
    """
    from scipy.optimize import linear_sum_assignment

    found, numbers = np.unique(clusters, return_inverse=True)
    table = np.zeros((len(found), max(len(found), int(classes.max()) + 1)), dtype=np.intp)
    np.add.at(table, (numbers, classes), 1)
    _, matched = linear_sum_assignment(-table)
    renumbered: npt.NDArray[np.intp] = matched[numbers]
    return renumbered


def _scatter(axes: Any, points: Points, groups: npt.NDArray[np.intp]) -> None:
    inks = [colour(int(group)) for group in groups]
    axes.scatter(points[:, 0], points[:, 1], s=5, c=inks, linewidths=0)
    axes.set(xticks=[], yticks=[])


def _legend(axes: Any, names: npt.NDArray[np.str_]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour(i), marker=".", linestyle="", label=str(name))
        for i, name in enumerate(names[:12])
    ]
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1, 0.5))


_MAX_GROUPS = 8


def grids(request: Request) -> "Figure":
    """Return the groups by the wanted criterion and by the next one, side by side.

    The same method clusters the same images twice with the same budget; only the answers
    differ. The images shown are drawn at random from each group.
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
    n_lines = max(min(plotted.model.n_clusters, _MAX_GROUPS) for plotted in runs)
    figure = new_figure(2 * (0.62 * n_shown + 1.1), 0.68 * n_lines + 0.7)
    halves: Any = figure.subfigures(1, 2, wspace=0.04)
    for part, plotted in zip(halves, runs, strict=True):
        _draw_grid(part, plotted, n_shown, n_lines)
    return figure


def _draw_grid(part: Any, plotted: PlottedRun, n_shown: int, n_lines: int) -> None:
    found = plotted.model.labels_
    panels = part.subplots(n_lines, n_shown, squeeze=False)
    rng = stream(plotted.run.seed, "figure", "grid", plotted.ground_truth.criterion)
    groups = [group for group, _ in Counter(found.tolist()).most_common(n_lines)]
    for line, group in zip(panels, groups, strict=False):
        members = np.flatnonzero(found == group)
        chosen = rng.permutation(members)[:n_shown]
        for axes, image in zip(line, chosen, strict=False):
            show_image(axes, plotted.pixels(int(image)))
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
