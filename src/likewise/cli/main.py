"""The `likewise` command: its subcommands, and errors shown as one line."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from likewise import __version__
from likewise.cli.answers import answers
from likewise.cli.ask import ask
from likewise.cli.console import warnings_as_notes
from likewise.cli.embed import embed
from likewise.cli.export import export
from likewise.cli.fit import fit
from likewise.cli.predict import predict
from likewise.cli.start import start
from likewise.errors import LikewiseError

_STOPPED = "Stopped. Answers and embeddings so far are saved; run the same command to continue."
_GROUP = "likewise.commands"
_OPTIONAL = {"bench": "likewise_bench.cli:bench", "demo": "likewise_bench.cli:demo"}
_EXTRAS = {
    **dict.fromkeys(("torch", "transformers", "accelerate", "kornia"), "torch"),
    **dict.fromkeys(("matplotlib", "pandas", "likewise_bench"), "bench"),
    "pyarrow": "parquet",
}


def _plugin(name: str) -> EntryPoint | None:
    """Return the entry point of a command from another package.

    The fallback serves source trees and installations whose metadata predates the entry points.
    """
    for found in entry_points(group=_GROUP, name=name):
        return found
    value = _OPTIONAL.get(name)
    if value is None or find_spec(value.partition(".")[0]) is None:
        return None
    return EntryPoint(name, value, _GROUP)


@contextmanager
def _extras_named() -> Iterator[None]:
    """Turn a missing package of an extra into one line with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None or isinstance(error, LikewiseError):
            raise
        typer.echo(
            f"Error: The package {error.name} is not installed; "
            f"run `pip install 'likewise[{extra}]'`.",
            err=True,
        )
        raise typer.Exit(2) from error


class CommandGroup(TyperGroup):
    """Adds the commands of other packages, and shows errors of this package as one line."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        names = dict.fromkeys((*(found.name for found in entry_points(group=_GROUP)), *_OPTIONAL))
        return [*super().list_commands(ctx), *(name for name in names if _plugin(name))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; one of another package is imported only now."""
        found = super().get_command(ctx, cmd_name)
        plugin = None if found is not None else _plugin(cmd_name)
        if plugin is None:
            return found
        with _extras_named():
            return typer.main.get_command(plugin.load())

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        The exit code is 0, 1 for an error of this package, 2 for wrong usage and
        a missing extra, 130 for Ctrl+C, and 141 if the reader of a pipe is gone.
        """
        try:
            with warnings_as_notes(), _extras_named():
                result = super().invoke(ctx)
                sys.stdout.flush()
        except LikewiseError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(2 if isinstance(error, ImportError) else 1) from error
        except KeyboardInterrupt as error:
            typer.echo(f"\n{_STOPPED}", err=True)
            raise typer.Exit(130) from error
        except BrokenPipeError as error:  # the reader of the pipe has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(141) from error
        return result


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"likewise {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="likewise",
    cls=CommandGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def likewise(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Group a folder of images by your own criterion.

    \b
    Example:
        likewise start photos/ --by season -k 4
        likewise demo
        likewise fit photos/ -k 4 --by season
        likewise export photos.likewise --by season --to folders -o sorted/
    """


for command in (start, ask, fit, predict, export, answers, embed):
    app.command()(command)


def run() -> None:
    """Run the command line; the entry point of the package."""
    app(prog_name="likewise")
