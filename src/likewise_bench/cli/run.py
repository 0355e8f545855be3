"""`likewise bench run` and `likewise bench sweep`: one run; many runs in parallel, resumable."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from likewise.cli.console import (
    check_new_path,
    check_parent_folder,
    count_noun,
    print_json,
    print_line,
    print_note,
    print_note_list,
    replace_file,
)
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
from likewise.estimators.registry import DEFAULT_METHOD
from likewise_bench.cli.options import (
    Clusters,
    Criterion,
    Data,
    Dataset,
    Images,
    Jobs,
    Kinds,
    Labels,
    NImages,
    Noise,
    NTest,
    PersonSeconds,
    Protocol,
    Questions,
    ResultsPath,
    RowFile,
    Split,
    Strategy,
    SweepFile,
    TestFraction,
    Unsure,
)

if TYPE_CHECKING:
    from likewise_bench.spec import RunSpec


def run_(
    method: Method = DEFAULT_METHOD,
    dataset: Dataset = None,
    data: Data = None,
    images: Images = None,
    labels: Labels = None,
    by: Criterion = None,
    questions: Questions = 0,
    seconds: PersonSeconds = None,
    k: Clusters = None,
    strategy: Strategy = None,
    kinds: Kinds = None,
    preset: Preset = None,
    settings: Settings = None,
    encoder: EncoderName = None,
    from_scratch: FromScratch = False,
    protocol: Protocol = "transductive",
    test_fraction: TestFraction = None,
    split: Split = "all",
    n_images: NImages = None,
    n_test: NTest = None,
    noise: Noise = 0.0,
    unsure: Unsure = 0.0,
    seed: Seed = 0,
    out: RowFile = None,
    as_json: AsJson = False,
) -> None:
    """Run one method on one data set and report its scores.

    True labels are used only by the simulated annotator and the metrics. --questions counts
    answers of any kind; implied relations are free. --seconds limits the simulated time of the
    annotator: 2 s for a pair, 1.5 s and 0.2 s per group shown for a choice, 3 s for a label.

    \b
    Example:
        likewise bench run --dataset digits --by digit --method kmeans --json
        likewise bench run --images photos/ --labels labels.csv --by colour --questions 100
        likewise bench run --dataset cifar10 --data DIR --by personalised --split test
    """
    check_new_path(out)
    from likewise.embedding.registry import check_encoder
    from likewise_bench.spec import RunSpec

    if encoder is not None:
        check_encoder(encoder)
    source = {"dataset": dataset, "data": data, "images": images, "labels": labels}
    part = {"split": split, "n_images": n_images, "n_test": n_test, "test_fraction": test_fraction}
    model = {"preset": preset, "encoder": encoder, "from_scratch": from_scratch}
    asked = {"n_questions": questions, "seconds": seconds, "noise": noise, "unsure": unsure}
    options: dict[str, Any] = {**source, **part, **model, **asked}
    run = RunSpec(
        method,
        criterion=by,
        seed=seed,
        n_clusters=_n_clusters(k),
        strategy=strategy,
        settings=as_settings(settings),
        protocol=protocol,
        kinds=None if kinds is None else tuple(kind.strip() for kind in kinds.split(",")),
        **options,
    )
    _write(_perform(run), out, as_json)


def _perform(run: "RunSpec") -> dict[str, Any]:
    from likewise.cli.console import ProgressBars
    from likewise_bench.runner import run_benchmark
    from likewise_bench.sweep.spec import spec_of

    with ProgressBars() as bars:
        row = run_benchmark(run, bars.step)
    return {**row, "spec": spec_of(run)}  # tables compare runs by their spec


def _write(row: dict[str, Any], out: Path | None, as_json: bool) -> None:
    if out is not None:
        replace_file(out, (json.dumps(row, ensure_ascii=False) + "\n").encode())
    if as_json:
        print_json(row)
    else:
        _print(row)


def _n_clusters(given: str | None) -> int | str | None:
    if given is None or given == "auto":
        return given
    if not given.isdecimal() or int(given) < 2:
        raise typer.BadParameter(f"-k must be an integer >= 2 or auto, got {given!r}.")
    return int(given)


def _print(row: dict[str, Any]) -> None:
    title = f"{row['method']} on {row['dataset']} by {row['criterion']}"
    print_line(f"{title}: {row['n_images']:,} images, {row['n_clusters']} clusters")
    print_line(f"{'':<22}{'ACC':>6} {'NMI':>6} {'ARI':>6}")
    parts = {f"after {row['n_answers']:,} answers": row, "  named in no answer": row["unasked"]}
    for name, scores in {**parts, "held out": row["test"]}.items():
        if scores is not None:
            print_line(f"{name:<22}{scores['acc']:6.3f} {scores['nmi']:6.3f} {scores['ari']:6.3f}")
    for name, acc in row["baselines"].items():
        if acc is not None:
            print_line(f"{name.removesuffix('_acc').replace('_', ' '):<22}{acc:6.3f}")
    seconds = ", ".join(f"{name} {spent:.1f}" for name, spent in row["seconds"].items())
    print_line(f"seconds: {seconds}; memory: {row['peak_memory_mb']:,.0f} MB")


def sweep_(
    file: SweepFile,
    out: ResultsPath,
    jobs: Jobs = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Run the missing rows of a sweep: data sets x criteria x methods x budgets x seeds.

    Each row is written as soon as its run ends, so the same command continues a sweep that was
    stopped. A run that fails is stored with its error and repeated next time; the exit code is
    then 1.

    \b
    Example:
        likewise bench sweep benchmarks/few_answers.toml --data DIR -o few_answers.jsonl
        likewise bench table few_answers.jsonl
    """
    check_parent_folder(out)
    from likewise.cli.console import ProgressBars
    from likewise_bench.sweep.runner import sweep
    from likewise_bench.sweep.spec import read_sweep

    runs = read_sweep(file, data)
    with ProgressBars() as bars:
        report = sweep(runs, out, n_jobs=jobs, step=bars.step)
    summary = {
        "rows": report.n_rows,
        "made": report.n_made,
        "failed": len(report.failed),
        "seconds": round(report.seconds, 1),
        "file": str(out),
    }
    if as_json:
        print_json(summary)
    else:
        made, rows = report.n_made, count_noun(report.n_rows, "row")
        print_line(f"{rows} in {out}, {made:,} of them new, in {report.seconds:,.0f} s")
    if report.failed:
        lines = [f"{_spec_text(row['spec'])}: {row['error']}" for row in report.failed]
        print_note_list(f"{count_noun(len(lines), 'row')} failed:", lines)
        print_note("The same command runs them again.")
        raise typer.Exit(1)


def _spec_text(spec: dict[str, object]) -> str:
    return " ".join(str(value) for value in spec.values())
