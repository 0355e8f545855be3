"""`likewise bench table`: rows of results as tables."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.output import check_place, replace_file, say
from likewise.errors import InvalidParameterError, ResultsFileError


def table_(
    files: Annotated[
        list[Path], typer.Argument(metavar="RESULTS.jsonl...", help="Made by sweep or run.")
    ],
    to: Annotated[
        str, typer.Option("--to", metavar="markdown|latex|csv", help="How it is written.")
    ] = "markdown",
    layout: Annotated[
        str, typer.Option("--layout", metavar="NAME", help="answers, results, pcl-2 … dsac-iii.")
    ] = "answers",
    no_times: Annotated[
        bool, typer.Option("--no-times", help="Without seconds and memory, which never repeat.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Else on stdout.")
    ] = None,
) -> None:
    """Write tables: mean and spread over seeds, honest lines beside every method.

    The layout answers has a table for every set and orientation; a paper's table has the
    printed figures with ours beside them; results is the whole page with all of it.

    \b
    Example:
        likewise bench table few_answers.jsonl
        likewise bench table results.jsonl --layout pcl-3 --to latex -o pcl3.tex
        likewise bench table docs/results/*.jsonl --layout results -o docs/results.md
    """
    if out is not None:
        check_place(out)
    from likewise.benchmark.report import report
    from likewise.benchmark.sweep.ledger import read_results
    from likewise.benchmark.tables.layouts import make_tables
    from likewise.benchmark.tables.table import write

    if layout == "results" and to != "markdown":
        raise InvalidParameterError(
            f"The layout 'results' is a page in Markdown and cannot be written as {to}; leave out "
            "--to, or choose another layout."
        )
    if layout == "results":
        text = report(files)
    else:
        rows = read_results(files)
        if not rows:
            raise ResultsFileError("There is not one row in the files; run a sweep first.")
        text = write(make_tables(rows, layout, times=not no_times), to)
    if out is None:
        say(text.rstrip("\n"))
    else:
        replace_file(out, text.encode())
