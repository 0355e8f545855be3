"""`likewise bench plot`: figures from results or from a new run."""

from typing import Any

from likewise.cli.console import check_parent_folder, print_line
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
from likewise.estimators.registry import DEFAULT_METHOD
from likewise_bench.cli.options import (
    Criterion,
    Data,
    Dataset,
    Epochs,
    ImageFile,
    Images,
    Labels,
    NImages,
    NShown,
    OtherCriterion,
    Plot,
    PlottedResults,
    Projection,
    Questions,
    Snapshots,
    Split,
    Strategy,
)


def plot_(
    kind: Plot,
    out: ImageFile,
    files: PlottedResults = None,
    method: Method = DEFAULT_METHOD,
    dataset: Dataset = None,
    data: Data = None,
    images: Images = None,
    labels: Labels = None,
    by: Criterion = None,
    other: OtherCriterion = None,
    questions: Questions = 0,
    strategy: Strategy = None,
    preset: Preset = None,
    settings: Settings = None,
    encoder: EncoderName = None,
    from_scratch: FromScratch = False,
    split: Split = "all",
    n_images: NImages = None,
    at: Snapshots = None,
    projection: Projection = "tsne",
    n: NShown = None,
    epochs: Epochs = 20,
    seed: Seed = 0,
) -> None:
    """Draw a figure; the same command writes the same file.

    \b
    Example:
        likewise bench plot answers results.jsonl -o curves.png
        likewise bench plot map --dataset digits --by digit --method cc --at 0,20 -o m.png
        likewise bench plot grids --dataset scenes --by shape --questions 60 -o grids.png
    """
    check_parent_folder(out)
    from likewise_bench.plots.plotted_run import Request
    from likewise_bench.plots.style import check_format, draw
    from likewise_bench.spec import RunSpec
    from likewise_bench.sweep.results_file import read_results

    check_format(out)
    run = None
    if dataset is not None or images is not None:
        source = {"dataset": dataset, "data": data, "images": images, "labels": labels}
        model = {"preset": preset, "encoder": encoder, "from_scratch": from_scratch}
        chosen: dict[str, Any] = {**source, **model, "split": split, "n_images": n_images}
        run = RunSpec(
            method,
            criterion=by,
            n_questions=questions,
            seed=seed,
            strategy=strategy,
            settings=as_settings(settings),
            **chosen,
        )
    options: dict[str, Any] = {"n": n, "epochs": epochs, "other": other, "seed": seed}
    options |= {"at": _snapshots(at), "by": projection}
    draw(Request(kind, tuple(read_results(files or ())), run, options), out)
    print_line(str(out))


def _snapshots(at: str | None) -> list[int] | None:
    if at is None:
        return None
    try:
        return [int(word) for word in at.split(",")]
    except ValueError as error:
        raise InvalidParameterError(
            f"--at must be a list of integers such as 0,5,20, got {at!r}."
        ) from error
