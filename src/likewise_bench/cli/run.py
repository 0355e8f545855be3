"""`likewise bench run`: run one method on one data set."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from likewise.cli.console import check_new_path, print_json, print_line, replace_file
from likewise.cli.options import (
    AsJson,
    EncoderName,
    FromScratch,
    Method,
    Preset,
    Seed,
    Settings,
    as_settings,
)
from likewise.estimators.registry import DEFAULT
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


def run_(
    method: Method = DEFAULT,
    dataset: Dataset = None,
    data: Data = None,
    images: Images = None,
    labels: Labels = None,
    by: Criterion = None,
    questions: Questions = 0,
    k: Annotated[
        str | None,
        typer.Option(
            "-k", "--clusters", metavar="K|auto", help="Default: number of values of the criterion."
        ),
    ] = None,
    strategy: Strategy = None,
    kinds: Annotated[
        str | None, typer.Option("--kinds", metavar="pair,choice,label", help="Which are allowed.")
    ] = None,
    preset: Preset = None,
    settings: Settings = None,
    encoder: EncoderName = None,
    from_scratch: FromScratch = False,
    protocol: Annotated[
        str, typer.Option("--protocol", metavar="transductive|inductive")
    ] = "transductive",
    test_fraction: Annotated[
        float | None, typer.Option("--test-fraction", metavar="F", help="Held out (inductive).")
    ] = None,
    split: Split = "all",
    n_images: NImages = None,
    n_test: Annotated[
        int | None, typer.Option("--n-test", min=1, help="Test on only so many.")
    ] = None,
    noise: Annotated[float, typer.Option("--noise", metavar="P", help="Wrong answers.")] = 0.0,
    unsure: Annotated[float, typer.Option("--unsure", metavar="P", help="“Can't tell”.")] = 0.0,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Write the row here too.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run one method on one data set and report its scores.

    True labels are used only by the simulated annotator and the metrics. --questions counts
    answers of any kind; implied relations are free.

    \b
    Example:
        likewise bench run --dataset digits --orientation digit --method kmeans --json
        likewise bench run --images photos/ --labels labels.csv --orientation colour --questions 100
        likewise bench run --dataset cifar10 --data DIR --orientation personalised --split test
    """
    check_new_path(out)
    from likewise.cli.console import ProgressBars
    from likewise.embedding.registry import check_encoder
    from likewise_bench.runner import run_benchmark
    from likewise_bench.spec import RunSpec
    from likewise_bench.sweep.spec import spec_of

    if encoder is not None:
        check_encoder(encoder)
    run = RunSpec(
        method,
        dataset=dataset,
        data=data,
        images=images,
        labels=labels,
        criterion=by,
        n_questions=questions,
        seed=seed,
        n_clusters=_n_clusters(k),
        strategy=strategy,
        preset=preset,
        settings=as_settings(settings),
        encoder=encoder,
        from_scratch=from_scratch,
        protocol=protocol,
        test_fraction=test_fraction,
        split=split,
        n_images=n_images,
        n_test=n_test,
        kinds=None if kinds is None else tuple(kind.strip() for kind in kinds.split(",")),
        noise=noise,
        unsure=unsure,
    )
    with ProgressBars() as bars:
        row = {
            **run_benchmark(run, bars.step),
            "spec": spec_of(run),
        }  # by which tables tell runs apart
    if out is not None:
        replace_file(out, (json.dumps(row, ensure_ascii=False) + "\n").encode())
    if as_json:
        print_json(row)
    else:
        _tell(row)


def _n_clusters(given: str | None) -> int | str | None:
    if given is None or given == "auto":
        return given
    if not given.isdecimal() or int(given) < 2:
        raise typer.BadParameter(f"-k must be an integer >= 2 or auto, got {given!r}.")
    return int(given)


def _tell(row: dict[str, Any]) -> None:
    title = f"{row['method']} on {row['dataset']} by {row['criterion']}"
    print_line(f"{title}: {row['n_images']:,} images, {row['n_clusters']} clusters")
    print_line(f"{'':<22}{'ACC':>6} {'NMI':>6} {'ARI':>6}")
    parts = {f"after {row['n_answers']:,} answers": row, "  named in no answer": row["unasked"]}
    for name, marks in {**parts, "held out": row["test"]}.items():
        if marks is not None:
            print_line(f"{name:<22}{marks['acc']:6.3f} {marks['nmi']:6.3f} {marks['ari']:6.3f}")
    for name, acc in row["baselines"].items():
        if acc is not None:
            print_line(f"{name.removesuffix('_acc').replace('_', ' '):<22}{acc:6.3f}")
    seconds = ", ".join(f"{name} {spent:.1f}" for name, spent in row["seconds"].items())
    print_line(f"seconds: {seconds}; memory: {row['peak_memory_mb']:,.0f} MB")
