"""Figure style, reproducible files, and the registry of figures."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import OutputError, UnknownNameError
from likewise_bench.plots.plotted_run import Request

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FORMATS = (".png", ".svg", ".pdf")
#: Distinguishable with colour vision deficiency (Okabe and Ito).
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8c6d31", "#000000"),
    *("#7f7f7f", "#b3de69", "#6a3d9a", "#fb8072"),
)
_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "savefig.dpi": 130,
    "svg.hashsalt": "likewise",
    "svg.fonttype": "path",
}


def check_format(path: Path) -> None:
    """Raise an error unless the file name has the suffix of a figure format."""
    if path.suffix not in FORMATS:
        raise OutputError(f"The suffix of {path} must be one of {', '.join(FORMATS)}.")


@contextmanager
def styled() -> Iterator[None]:
    """Context manager: draw in the style of this project, independent of the user's settings."""
    import matplotlib as mpl

    settings: Any = {**mpl.rcParamsDefault, "backend": "agg", **_STYLE}
    with mpl.rc_context(settings):
        yield


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of the given size in inches, without pyplot's global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: "Figure", path: Path) -> None:
    """Write a figure without dates and versions, so that equal figures give equal files."""
    check_format(path)
    no_metadata: dict[str, dict[str, str | None]] = {
        ".png": {"Software": None},
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None},
    }
    try:
        figure.savefig(path, metadata=no_metadata[path.suffix])
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}.") from error


def colour(number: int) -> str:
    """Return a colour of the cycle."""
    return COLOURS[number % len(COLOURS)]


def show_image(axes: Any, pixels: Any, frame: str | None = None) -> None:
    """Draw an image without axes, optionally in a coloured frame."""
    axes.imshow(pixels, interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(frame is not None)
        spine.set_edgecolor(frame or "none")
        spine.set_linewidth(3)


def legend_below(figure: "Figure", handles: Sequence[Any], columns: int = 4) -> None:
    """Add one legend below the whole figure."""
    figure.legend(handles=list(handles), loc="outside lower center", ncols=columns)


#: Name on the command line -> module and function.
PLOTS = {
    "answers": "likewise_bench.plots.curves:answer_curves",
    "similarities": "likewise_bench.plots.contrastive:similarities",
    "map": "likewise_bench.plots.groups:maps",
    "grids": "likewise_bench.plots.groups:grids",
    "questions": "likewise_bench.plots.questions:questions",
    "toy": "likewise_bench.plots.questions:toy",
}


def draw(request: Request, out: Path) -> None:
    """Draw a figure and write it.

    Raises
    ------
    UnknownNameError
        If the figure is unknown.
    OutputError
        If it cannot be written, or its suffix is not a known format.
    """
    if request.kind not in PLOTS:
        raise UnknownNameError("figure", request.kind, PLOTS)
    check_format(out)
    module, name = PLOTS[request.kind].split(":")
    make: Callable[[Request], Figure] = getattr(import_module(module), name)
    with styled():
        save(make(request), out)
