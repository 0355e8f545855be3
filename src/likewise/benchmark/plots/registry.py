"""Figures by name; what draws one is imported when it is wanted."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.benchmark.plots.canvas import check_format, save, styled
from likewise.benchmark.plots.request import Request
from likewise.errors import UnknownNameError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Name on the command line -> where its function is.
PLOTS = {
    "answers": "likewise.benchmark.plots.answer_curves:answer_curves",
    "similarities": "likewise.benchmark.plots.similarities:similarities",
    "map": "likewise.benchmark.plots.maps:maps",
    "grids": "likewise.benchmark.plots.grids:grids",
    "questions": "likewise.benchmark.plots.questions:questions",
    "toy": "likewise.benchmark.plots.toy:toy",
    "theorem-pcl-3.1": "likewise.benchmark.theorems.pcl_3_1:figure",
    "theorem-pcl-3.2": "likewise.benchmark.theorems.pcl_3_2:figure",
    "theorem-pcl-3.3": "likewise.benchmark.theorems.pcl_3_3:figure",
    "theorem-occ-eq8": "likewise.benchmark.theorems.occ_eq_8:figure",
    "theorem-occ-1-2": "likewise.benchmark.theorems.occ_1_2:figure",
}


def draw(request: Request, out: Path) -> None:
    """Draw a figure and write it.

    Raises
    ------
    UnknownNameError
        If there is no such figure.
    OutputError
        If it cannot be written, or its name says no format.
    """
    if request.kind not in PLOTS:
        raise UnknownNameError("figure", request.kind, PLOTS)
    check_format(out)
    module, name = PLOTS[request.kind].split(":")
    make: Callable[[Request], Figure] = getattr(import_module(module), name)
    with styled():
        save(make(request), out)
