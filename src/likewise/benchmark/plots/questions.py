"""The questions a method put, in their order, with the answers."""

import math
from typing import TYPE_CHECKING, Any

from likewise.benchmark.plots.canvas import new_figure, show_picture
from likewise.benchmark.plots.request import Request
from likewise.benchmark.plots.stage import Stage, set_up
from likewise.constraints.question import Answer
from likewise.errors import InvalidParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INKS = {"same": "#009E73", "different": "#D55E00"}
_OTHER = "#7f7f7f"
_COLUMNS = 4


def questions(request: Request) -> "Figure":
    """Return a gallery of the first questions: green is the same, red different, grey neither.

    A choice shows the picture, then the groups it was compared with, the chosen one in green.
    """
    stage = set_up(request.needed_run())
    stage.play()
    answers = list(stage.model.constraints_.answers.values())[: request.options.get("n") or 24]
    if not answers:
        raise InvalidParameterError(
            f"{stage.run.method!r} asked nothing, so there is no question to show; choose a method "
            "that asks, and give --questions."
        )
    n_wide = max((len(_pictures(answer)) for answer in answers), default=1)
    columns = max(1, min(_COLUMNS, 12 // n_wide))
    lines = max(1, math.ceil(len(answers) / columns))
    figure = new_figure(columns * (0.75 * n_wide + 0.25), 1.0 * lines + 0.5)
    places = figure.subfigures(lines, columns, squeeze=False).flat
    for number, (place, answer) in enumerate(zip(places, answers, strict=False), start=1):
        _draw(place, stage, answer, n_wide, number)
    run = stage.run
    strategy = f" ({run.strategy})" if run.strategy else ""
    figure.suptitle(
        f"questions of {run.method}{strategy} on {stage.dataset.name} by {stage.judge.orientation}"
    )
    return figure


def _pictures(answer: Answer) -> list[tuple[int, str]]:
    """Return the images of a question with the colour of their frames."""
    images = answer.question.images
    if answer.question.kind == "pair":
        ink = _INKS.get(answer.answer, _OTHER)
        return [(image, ink) for image in images]
    if answer.question.kind == "label":
        return [(images[0], "#000000")]
    shown = zip(images[1:], answer.question.groups or (), strict=False)
    said = [
        (image, _INKS["same" if group == answer.answer else "different"]) for image, group in shown
    ]
    return [(images[0], "#000000"), *said]


def _draw(place: Any, stage: Stage, answer: Answer, n_wide: int, number: int) -> None:
    panels = place.subplots(1, n_wide, squeeze=False)[0]
    for axes in panels:
        axes.set_axis_off()
    for axes, (image, ink) in zip(panels, _pictures(answer), strict=False):
        axes.set_axis_on()
        show_picture(axes, stage.pixels(image), ink)
    place.suptitle(f"{number}: {answer.answer}", fontsize=7)
