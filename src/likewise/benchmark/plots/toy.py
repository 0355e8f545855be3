"""DSAC's choice in the plane: representative and difficult points, and how far labels spread."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from likewise.benchmark.plots.canvas import colour, new_figure
from likewise.benchmark.plots.request import Request
from likewise.methods.labelling import choose
from likewise.methods.seeded_kmeans import NO_LABEL, Grouping, seeded_kmeans
from likewise.queries.dsac import pace, pseudo_labels, self_paced_weights
from likewise.seeds import stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = npt.NDArray[np.float32]
_CENTRES = np.array([[-2.2, -0.6], [1.9, -0.9], [0.1, 2.1]])
_N = 110  # points a blob
_LABELS = 9  # three a cluster: one representative, two difficult
_SPREAD = 40


def toy(request: Request) -> "Figure":
    """Return two panels: what is asked in one round, and what is known afterwards."""
    seed = int(request.options.get("seed", 0))
    points, truth = _blobs(seed)
    unknown = np.full(len(points), NO_LABEL)
    found = seeded_kmeans(points, 3, unknown, seed)
    asked = choose("full", points, found, np.zeros(len(points), bool), _LABELS, 0, seed)
    labels = unknown.copy()
    labels[asked] = truth[asked]
    spread = pseudo_labels(found.clusters, found.distances, labels, _SPREAD)
    figure = new_figure(8.2, 3.9)
    left, right = figure.subplots(1, 2)
    _draw_asked(left, points, found, asked)
    _draw_known(right, points, labels, spread)
    figure.suptitle("DSAC, one round: three clusters, nine labels")
    return figure


def _blobs(seed: int) -> tuple[Points, npt.NDArray[np.intp]]:
    rng = stream(seed, "figure", "toy")
    truth = np.repeat(np.arange(3), _N)
    return (_CENTRES[truth] + rng.normal(0, 0.85, (3 * _N, 2))).astype(np.float32), truth


def _draw_asked(axes: Any, points: Points, found: Grouping, asked: npt.NDArray[np.intp]) -> None:
    weights = self_paced_weights(found.distances, pace(found.distances))
    inks = [colour(int(cluster)) for cluster in found.clusters]
    axes.scatter(*points.T, s=6 + 26 * weights, c=inks, alpha=0.45, linewidths=0)
    first, then = asked[:3], asked[3:]
    axes.scatter(*points[first].T, s=190, marker="*", c="black", label="representative: asked")
    axes.scatter(*points[then].T, s=60, marker="X", c="black", label="difficult: asked")
    axes.scatter(*found.centres.T, s=60, marker="+", c="black", linewidths=1, label="centre")
    _finish(axes, "asked; size: self-paced weight")


def _draw_known(
    axes: Any, points: Points, labels: npt.NDArray[np.intp], spread: npt.NDArray[np.intp]
) -> None:
    rest = spread == NO_LABEL
    axes.scatter(*points[rest].T, s=8, c="lightgrey", label="no label")
    for value in np.unique(spread[~rest]):
        guessed = (spread == value) & (labels == NO_LABEL)
        axes.scatter(*points[guessed].T, s=20, facecolors="none", edgecolors=colour(int(value)))
        said = labels == value
        axes.scatter(*points[said].T, s=60, marker="s", c=colour(int(value)))
    axes.scatter([], [], s=20, facecolors="none", edgecolors="black", label="pseudo-labelled")
    axes.scatter([], [], s=60, marker="s", c="black", label="labelled by the oracle")
    _finish(axes, f"known afterwards; {_SPREAD} nearest each centre")


def _finish(axes: Any, title: str) -> None:
    axes.set(xticks=[], yticks=[], title=title)
    axes.set_aspect("equal")
    axes.margins(0.06)
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.02), ncols=2)
