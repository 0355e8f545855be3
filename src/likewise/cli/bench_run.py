"""`likewise bench run`: one row of a table."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from likewise.cli.options import (
    AsJson,
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
from likewise.cli.output import check_free, print_json, replace_file, say
from likewise.methods.registry import DEFAULT


def run_(
    method: Method = DEFAULT,
    dataset: Dataset = None,
    data: Data = None,
    images: Images = None,
    labels: Labels = None,
    orientation: Orientation = None,
    questions: Questions = 0,
    k: Annotated[
        int | None, typer.Option("-k", "--clusters", min=2, help="Else as many as it has values.")
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
    """Run one method on one data set, and score it.

    True labels are seen by the simulated person who answers and by the scores, by nothing
    else. --questions counts a person's answers of whatever kind; what follows from them is free.

    \b
    Example:
        likewise bench run --dataset digits --orientation digit --method kmeans --json
        likewise bench run --images photos/ --labels labels.csv --orientation colour --questions 100
        likewise bench run --dataset cifar10 --data DIR --orientation personalised --split test
    """
    check_free(out)
    from likewise.benchmark.protocol import Run
    from likewise.benchmark.run import perform
    from likewise.benchmark.sweep.identity import spec_of
    from likewise.cli.bars import Bars
    from likewise.encoders.registry import check_encoder

    if encoder is not None:
        check_encoder(encoder)
    run = Run(
        method,
        dataset=dataset,
        data=data,
        images=images,
        labels=labels,
        orientation=orientation,
        n_questions=questions,
        seed=seed,
        n_clusters=k,
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
    with Bars() as bars:
        row = {**perform(run, bars.step), "spec": spec_of(run)}  # by which tables tell runs apart
    if out is not None:
        replace_file(out, (json.dumps(row, ensure_ascii=False) + "\n").encode())
    if as_json:
        print_json(row)
    else:
        _tell(row)


def _tell(row: dict[str, Any]) -> None:
    title = f"{row['method']} on {row['dataset']} by {row['orientation']}"
    say(f"{title}: {row['n_images']:,} images, {row['n_clusters']} clusters")
    say(f"{'':<22}{'ACC':>6} {'NMI':>6} {'ARI':>6}")
    parts = {f"after {row['n_answers']:,} answers": row, "  named in no answer": row["unasked"]}
    for name, marks in {**parts, "held out": row["test"]}.items():
        if marks is not None:
            say(f"{name:<22}{marks['acc']:6.3f} {marks['nmi']:6.3f} {marks['ari']:6.3f}")
    for name, acc in row["baselines"].items():
        if acc is not None:
            say(f"{name.removesuffix('_acc').replace('_', ' '):<22}{acc:6.3f}")
    seconds = ", ".join(f"{name} {spent:.1f}" for name, spent in row["seconds"].items())
    say(f"seconds: {seconds}; memory: {row['peak_memory_mb']:,.0f} MB")
