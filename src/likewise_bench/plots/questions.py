"""The questions of a run in order, and DSAC's selection on toy data."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import Answer
from likewise.errors import InvalidParameterError
from likewise.estimators.deep.dsac_targets import NO_LABEL, Clusters, seeded_kmeans
from likewise.estimators.questioners import choose_images
from likewise.queries.density import pace, pseudo_labels, self_paced_weights
from likewise.random_streams import stream
from likewise_bench.plots.plotted_run import PlottedRun, Request, set_up
from likewise_bench.plots.style import colour, new_figure, show_image

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_FRAME_COLOURS = {"same": "#009E73", "different": "#D55E00"}
_OTHER = "#7f7f7f"
_COLUMNS = 4


def questions(request: Request) -> "Figure":
    """Return a gallery of the first questions: green same, red different, grey neither.

    A choice shows the image, then the representatives of the groups, the chosen one in green.
    """
    plotted = set_up(request.needed_run())
    plotted.fit()
    answers = list(plotted.model.constraints_.answers.values())[: request.options.get("n") or 24]
    if not answers:
        raise InvalidParameterError(
            f"{plotted.run.method!r} asked no questions, so there is nothing to plot; choose a "
            "method that asks, and give --questions."
        )
    n_wide = max((len(_framed_images(answer)) for answer in answers), default=1)
    columns = max(1, min(_COLUMNS, 12 // n_wide))
    lines = max(1, math.ceil(len(answers) / columns))
    figure = new_figure(columns * (0.75 * n_wide + 0.25), 1.0 * lines + 0.5)
    places = figure.subfigures(lines, columns, squeeze=False).flat
    for number, (place, answer) in enumerate(zip(places, answers, strict=False), start=1):
        _draw(place, plotted, answer, n_wide, number)
    run = plotted.run
    strategy = f" ({run.strategy})" if run.strategy else ""
    criterion = plotted.ground_truth.criterion
    figure.suptitle(f"questions of {run.method}{strategy} on {plotted.dataset.name} by {criterion}")
    return figure


def _framed_images(answer: Answer) -> list[tuple[int, str]]:
    """Return the images of a question with their frame colours."""
    images = answer.question.images
    if answer.question.kind == "pair":
        ink = _FRAME_COLOURS.get(answer.answer, _OTHER)
        return [(image, ink) for image in images]
    if answer.question.kind == "label":
        return [(images[0], "#000000")]
    if answer.question.kind == "grid":
        inks = ["different" if i in answer.ticked else "same" for i in answer.question.asked]
        asked = zip(answer.question.asked, inks, strict=True)
        return [(images[-1], "#000000"), *((image, _FRAME_COLOURS[ink]) for image, ink in asked)]
    shown = zip(images[1:], answer.question.groups or (), strict=False)
    representatives = [
        (image, _FRAME_COLOURS["same" if group == answer.answer else "different"])
        for image, group in shown
    ]
    return [(images[0], "#000000"), *representatives]


def _draw(place: Any, plotted: PlottedRun, answer: Answer, n_wide: int, number: int) -> None:
    panels = place.subplots(1, n_wide, squeeze=False)[0]
    for axes in panels:
        axes.set_axis_off()
    for axes, (image, ink) in zip(panels, _framed_images(answer), strict=False):
        axes.set_axis_on()
        show_image(axes, plotted.pixels(image), ink)
    place.suptitle(f"{number}: {answer.answer}", fontsize=7)


Points = npt.NDArray[np.float32]
_CENTRES = np.array([[-2.2, -0.6], [1.9, -0.9], [0.1, 2.1]])
_N = 110  # points per cluster
_LABELS = 9  # per cluster one representative and two difficult images
_SPREAD = 40


def toy(request: Request) -> "Figure":
    """Return two panels: the questions of one round, and the labels after it."""
    seed = int(request.options.get("seed", 0))
    points, truth = _blobs(seed)
    unknown = np.full(len(points), NO_LABEL)
    found = seeded_kmeans(points, 3, unknown, seed)
    asked = choose_images("full", points, found, np.zeros(len(points), bool), _LABELS, 0, seed)
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


def _draw_asked(axes: Any, points: Points, found: Clusters, asked: npt.NDArray[np.intp]) -> None:
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
        given = labels == value
        axes.scatter(*points[given].T, s=60, marker="s", c=colour(int(value)))
    axes.scatter([], [], s=20, facecolors="none", edgecolors="black", label="pseudo-labelled")
    axes.scatter([], [], s=60, marker="s", c="black", label="labelled by the oracle")
    _finish(axes, f"known afterwards; {_SPREAD} nearest each centre")


def _finish(axes: Any, title: str) -> None:
    axes.set(xticks=[], yticks=[], title=title)
    axes.set_aspect("equal")
    axes.margins(0.06)
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.02), ncols=2)
