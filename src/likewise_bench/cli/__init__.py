"""The commands `likewise bench` and `likewise demo`, mounted through entry points."""

import typer

from likewise_bench.cli.demo import demo as _demo
from likewise_bench.cli.plot import plot_
from likewise_bench.cli.run import run_, sweep_
from likewise_bench.cli.tables import list_, table_

bench = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
demo = typer.Typer(add_completion=False, rich_markup_mode=None)


@bench.callback()
def benchmark() -> None:
    """Compare methods: data sets, runs, sweeps, tables, plots.

    \b
    Example:
        likewise bench list
        likewise bench run --dataset digits --by digit --method kmeans --json
        likewise bench sweep benchmarks/few_answers.toml --data DIR -o rows.jsonl
        likewise bench table rows.jsonl
        likewise bench plot answers rows.jsonl -o curves.png
    """


for _name, _command in (
    ("list", list_),
    ("run", run_),
    ("sweep", sweep_),
    ("table", table_),
    ("plot", plot_),
):
    bench.command(_name)(_command)
demo.command()(_demo)
