"""`likewise bench plot`: figures from results, or from a run made for one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.options import (
    Data,
    Dataset,
    EncoderName,
    FromScratch,
    Images,
    Labels,
    Method,
    NImages,
    Orientation,
    Preset,
    Questions,
    Seed,
    Settings,
    Split,
    Strategy,
    as_settings,
)
from likewise.cli.output import check_place, say
from likewise.errors import InvalidParameterError
from likewise.methods.registry import DEFAULT

if TYPE_CHECKING:
    from likewise.benchmark.protocol import Run


def plot_(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="answers, similarities, map, grids, questions, toy, theorem-…"
        ),
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
    orientation: Orientation = None,
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
    by: Annotated[str, typer.Option("--by", metavar="tsne|umap", help="For: map.")] = "tsne",
    n: Annotated[int | None, typer.Option("-n", min=1, help="How many pictures.")] = None,
    epochs: Annotated[
        int, typer.Option("--epochs", min=1, help="For: similarities, theorem-occ-….")
    ] = 20,
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
    from likewise.benchmark.plots.canvas import check_format
    from likewise.benchmark.plots.registry import draw
    from likewise.benchmark.plots.request import Request
    from likewise.benchmark.sweep.ledger import read_results

    check_format(out)
    chosen: dict[str, Any] = {
        "method": method,
        "dataset": dataset,
        "data": data,
        "images": images,
        "labels": labels,
        "orientation": orientation,
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
    options = {"at": _moments(at), "by": by, "n": n, "epochs": epochs, "other": other, "seed": seed}
    draw(Request(kind, rows, _run(chosen), options), out)
    say(str(out))


def _run(chosen: dict[str, Any]) -> "Run | None":
    """Return what to run, or nothing where no data were named."""
    from likewise.benchmark.protocol import Run

    if chosen["dataset"] is None and chosen["images"] is None:
        return None
    return Run(**chosen)


def _moments(at: str | None) -> list[int] | None:
    if at is None:
        return None
    try:
        return [int(word) for word in at.split(",")]
    except ValueError as error:
        raise InvalidParameterError(
            f"--at {at!r} is no list of numbers; write --at 0,5,20."
        ) from error
