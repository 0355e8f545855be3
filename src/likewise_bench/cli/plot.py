"""`likewise bench plot`: figures from results or from a new run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.console import check_place, say
from likewise.cli.options import (
    EncoderName,
    FromScratch,
    Method,
    Preset,
    Seed,
    Settings,
    as_settings,
)
from likewise.errors import InvalidParameterError
from likewise.methods.registry import DEFAULT
from likewise_bench.cli.options import (
    Criterion,
    Data,
    Dataset,
    Images,
    Labels,
    NImages,
    Questions,
    Split,
    Strategy,
)

if TYPE_CHECKING:
    from likewise_bench.spec import RunSpec


def plot_(
    kind: Annotated[
        str,
        typer.Argument(metavar="KIND", help="answers, similarities, map, grids, questions, toy"),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="PNG, SVG or PDF.")],
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[RESULTS.jsonl...]", help="For: answers.")
    ] = None,
    method: Method = DEFAULT,
    dataset: Dataset = None,
    data: Data = None,
    images: Images = None,
    labels: Labels = None,
    by: Criterion = None,
    other: Annotated[
        str | None, typer.Option("--other", metavar="NAME", help="The other one (grids).")
    ] = None,
    questions: Questions = 0,
    strategy: Strategy = None,
    preset: Preset = None,
    settings: Settings = None,
    encoder: EncoderName = None,
    from_scratch: FromScratch = False,
    split: Split = "all",
    n_images: NImages = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="N,N,…", help="Moments, in answers or epochs (map)."),
    ] = None,
    projection: Annotated[
        str, typer.Option("--projection", metavar="tsne|umap", help="For: map.")
    ] = "tsne",
    n: Annotated[int | None, typer.Option("-n", min=1, help="How many pictures.")] = None,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="For: similarities.")] = 20,
    seed: Seed = 0,
) -> None:
    """Draw a figure; the same command writes the same file.

    \b
    Example:
        likewise bench plot answers results.jsonl -o curves.png
        likewise bench plot map --dataset digits --orientation digit --method cc --at 0,20 -o m.png
        likewise bench plot grids --dataset scenes --orientation shape --questions 60 -o grids.png
    """
    check_place(out)
    from likewise_bench.plots.plotted_run import Request
    from likewise_bench.plots.style import check_format, draw
    from likewise_bench.sweep.results_file import read_results

    check_format(out)
    chosen: dict[str, Any] = {
        "method": method,
        "dataset": dataset,
        "data": data,
        "images": images,
        "labels": labels,
        "criterion": by,
        "n_questions": questions,
        "seed": seed,
        "strategy": strategy,
        "preset": preset,
        "settings": as_settings(settings),
        "encoder": encoder,
        "from_scratch": from_scratch,
        "split": split,
        "n_images": n_images,
    }
    rows = tuple(read_results(files or ()))
    options = {
        "at": _moments(at),
        "by": projection,
        "n": n,
        "epochs": epochs,
        "other": other,
        "seed": seed,
    }
    draw(Request(kind, rows, _run(chosen), options), out)
    say(str(out))


def _run(chosen: dict[str, Any]) -> "RunSpec | None":
    """Return the run to plot, or None without a data set."""
    from likewise_bench.spec import RunSpec

    if chosen["dataset"] is None and chosen["images"] is None:
        return None
    return RunSpec(**chosen)


def _moments(at: str | None) -> list[int] | None:
    if at is None:
        return None
    try:
        return [int(word) for word in at.split(",")]
    except ValueError as error:
        raise InvalidParameterError(
            f"--at must be a list of integers such as 0,5,20, got {at!r}."
        ) from error
