"""The `likewise` command and the one place where errors become messages."""

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from likewise import __version__
from likewise.cli.answers import answers
from likewise.cli.ask import ask
from likewise.cli.bench_list import list_
from likewise.cli.bench_plot import plot_
from likewise.cli.bench_run import run_
from likewise.cli.bench_sweep import sweep_
from likewise.cli.bench_table import table_
from likewise.cli.demo import demo
from likewise.cli.embed import embed
from likewise.cli.export import export
from likewise.cli.fit import fit
from likewise.cli.notes import plain_warnings
from likewise.cli.predict import predict
from likewise.cli.start import start
from likewise.errors import LikewiseError

_STOPPED = (
    "Stopped. Answers and vectors that were finished are kept; the same command goes on from them."
)


class PlainErrors(TyperGroup):
    """Shows our own errors as one line, and lets bugs keep their traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; exit codes are 0, 1 for our errors, 2 for usage, 130 for Ctrl+C."""
        try:
            with plain_warnings():
                result = super().invoke(ctx)
                sys.stdout.flush()
        except LikewiseError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from error
        except KeyboardInterrupt as error:
            typer.echo(f"\n{_STOPPED}", err=True)
            raise typer.Exit(130) from error
        except BrokenPipeError as error:  # `likewise ... | head`: nobody listens any more
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(141) from error
        return result


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"likewise {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="likewise",
    cls=PlainErrors,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
bench = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def likewise(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Group a folder of pictures the way you mean it.

    \b
    Example:
        likewise start photos/ --by season -k 4
        likewise demo
        likewise fit photos/ -k 4 --by season
        likewise export photos.likewise --by season --to folders -o sorted/
    """


@bench.callback()
def benchmark() -> None:
    """Compare methods on equal terms: data sets, runs, tables.

    \b
    Example:
        likewise bench list
        likewise bench run --dataset digits --orientation digit --method kmeans --json
        likewise bench sweep benchmarks/few_answers.toml --data DIR -o rows.jsonl
        likewise bench table rows.jsonl
        likewise bench plot answers rows.jsonl -o curves.png
    """


for command in (start, ask, demo, fit, predict, export, answers, embed):
    app.command()(command)
app.add_typer(bench, name="bench")
bench.command("list")(list_)
bench.command("run")(run_)
bench.command("sweep")(sweep_)
bench.command("table")(table_)
bench.command("plot")(plot_)


def run() -> None:
    """Run the command line; the entry point of the package."""
    app(prog_name="likewise")
