"""`likewise bench sweep`: many runs in parallel, resumable."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import check_place, count_noun, note, note_list, print_json, say
from likewise.cli.options import AsJson


def sweep_(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="What to run.")],
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="RESULTS.jsonl", help="One line a row.")
    ],
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Processes at once; else one a core.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", metavar="DIR", help="Where the data sets lie.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the missing rows of a sweep: data sets x criteria x methods x budgets x seeds.

    Every row is on disk when it is made: the same command goes on where it was stopped. A row
    that fails is kept with its error and tried again next time; the exit code is then 1.

    \b
    Example:
        likewise bench sweep benchmarks/few_answers.toml --data DIR -o few_answers.jsonl
        likewise bench table few_answers.jsonl
    """
    check_place(out)
    from likewise.cli.console import Bars
    from likewise_bench.sweep.runner import sweep
    from likewise_bench.sweep.spec import read_sweep

    wanted = read_sweep(file, data)
    with Bars() as bars:
        report = sweep(wanted, out, n_jobs=jobs, step=bars.step)
    facts = {
        "rows": report.n_rows,
        "made": report.n_made,
        "failed": len(report.failed),
        "seconds": round(report.seconds, 1),
        "file": str(out),
    }
    if as_json:
        print_json(facts)
    else:
        made, rows = report.n_made, count_noun(report.n_rows, "row")
        say(f"{rows} in {out}, {made:,} of them made now in {report.seconds:,.0f} s")
    if report.failed:
        lines = [f"{_words(row['spec'])}: {row['error']}" for row in report.failed]
        note_list(f"{count_noun(len(lines), 'row')} failed:", lines)
        note("The same command tries them again.")
        raise typer.Exit(1)


def _words(spec: dict[str, object]) -> str:
    return " ".join(str(value) for value in spec.values())
