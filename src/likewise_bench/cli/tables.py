"""`likewise bench list` and `likewise bench table`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from likewise.cli.console import check_parent_folder, print_json, print_line, replace_file
from likewise.cli.options import AsJson
from likewise.errors import InvalidParameterError, ResultsFileError


def list_(as_json: AsJson = False) -> None:
    """List data sets with their criteria, methods, strategies and encoders.

    \b
    Example:
        likewise bench list
        likewise bench list --json
    """
    known = _known()
    if as_json:
        print_json(known)
        return
    width = max(map(len, known["datasets"]))
    print_line("data sets")
    for name, about in known["datasets"].items():
        criteria = ", ".join(known["criteria"][name])
        print_line(f"  {name:<{width}}  {about}{criteria and f'; by {criteria}'}")
    print_line("\nmethods")
    for name, method_info in known["methods"].items():
        asks = f"asks {', '.join(method_info['asks'])}" if method_info["asks"] else "asks nothing"
        presets = f"; presets {', '.join(method_info['presets'])}" if method_info["presets"] else ""
        print_line(f"  {name:<{width}}  {asks}{presets}")
    print_line("\nstrategies")
    print_line(f"  {', '.join(known['strategies'])}")
    print_line("\nencoders")
    print_line(f"  {', '.join(known['encoders'])}")


def _known() -> dict[str, Any]:
    from likewise.embedding.registry import ENCODERS
    from likewise.estimators.registry import all_methods
    from likewise.queries.registry import STRATEGIES
    from likewise_bench.datasets.registry import DATASETS, criteria_of
    from likewise_bench.method_info import method_info

    return {
        "datasets": {name: source.about for name, source in DATASETS.items()},
        "criteria": {name: criteria_of(name) for name in DATASETS},
        "methods": {
            name: {
                "presets": method_info(name)["presets"],
                "asks": method_info(name)["asks"],
            }
            for name in all_methods()
        },
        "strategies": sorted(STRATEGIES),
        "encoders": list(ENCODERS),
    }


def table_(
    files: Annotated[
        list[Path], typer.Argument(metavar="RESULTS.jsonl...", help="Results of sweep or run.")
    ],
    to: Annotated[
        str, typer.Option("--to", metavar="markdown|latex|csv", help="Output format.")
    ] = "markdown",
    layout: Annotated[
        str, typer.Option("--layout", metavar="NAME", help="answers, results, pcl-2 … dsac-iii.")
    ] = "answers",
    no_times: Annotated[
        bool, typer.Option("--no-times", help="Omit seconds and memory, which differ in every run.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Default: stdout.")
    ] = None,
) -> None:
    """Write tables: mean and standard deviation over seeds, with trivial baselines.

    The layout answers has one table per data set and criterion; a paper's layout shows the
    published values beside ours; results is the complete results page.

    \b
    Example:
        likewise bench table few_answers.jsonl
        likewise bench table results.jsonl --layout pcl-3 --to latex -o pcl3.tex
        likewise bench table docs/research/runs/*.jsonl --layout results -o docs/research/results.md
    """
    if out is not None:
        check_parent_folder(out)
    from likewise_bench.report import report
    from likewise_bench.sweep.results_file import read_results
    from likewise_bench.tables.format import write
    from likewise_bench.tables.layouts import make_tables

    if layout == "results" and to != "markdown":
        raise InvalidParameterError(
            f"The layout 'results' is a Markdown page and cannot be written as {to}; leave out "
            "--to, or choose another layout."
        )
    if layout == "results":
        text = report(files)
    else:
        rows = read_results(files)
        if not rows:
            raise ResultsFileError("The files contain no rows; run a sweep first.")
        text = write(make_tables(rows, layout, times=not no_times), to)
    if out is None:
        print_line(text.rstrip("\n"))
    else:
        replace_file(out, text.encode())
