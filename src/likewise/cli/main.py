"""The `likewise` command: its subcommands, and errors shown as one line."""

import os
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from likewise import __version__
from likewise.cli.answers import answers, repair
from likewise.cli.ask import ask
from likewise.cli.console import warnings_as_notes
from likewise.cli.embed import embed
from likewise.cli.export import export
from likewise.cli.fit import fit
from likewise.cli.predict import predict
from likewise.cli.report import report
from likewise.cli.start import start
from likewise.errors import LikewiseError

_STOPPED = "Stopped. Answers and embeddings so far are saved; run the same command to continue."
_GROUP = "likewise.commands"
_OPTIONAL = {"bench": "likewise_bench.cli:bench", "demo": "likewise_bench.cli:demo"}
_BENCH = "bench"
_OF_BENCH = ("matplotlib", "pandas", "pyarrow", "torch", "likewise_bench")
_EXTRAS = {  # package -> extra
    **dict.fromkeys(("torch", "transformers", "accelerate", "kornia"), "torch"),
    **dict.fromkeys(("matplotlib", "pandas", "likewise_bench"), _BENCH),
    "pyarrow": "parquet",
    "ray": "ray",
}


@cache
def _plugins() -> dict[str, EntryPoint]:
    """Return the entry points of commands from other packages by name.

    Those of `_OPTIONAL` also serve source trees and installations whose metadata is older.
    """
    found = {
        name: EntryPoint(name, value, _GROUP)
        for name, value in _OPTIONAL.items()
        if find_spec(value.partition(".")[0]) is not None
    }
    return found | {entry_point.name: entry_point for entry_point in entry_points(group=_GROUP)}


def _missing_extra(error: ModuleNotFoundError, command: str | None) -> str | None:
    """Return the message for a missing package of an extra; None for any other package."""
    package = (error.name or "").partition(".")[0]
    extra = _BENCH if command in _OPTIONAL and package in _OF_BENCH else _EXTRAS.get(package)
    if extra is None:
        return None
    return f"The package {package} is not installed; run `pip install 'likewise[{extra}]'`."


class CommandGroup(TyperGroup):
    """Adds the commands of other packages, and shows errors of this package as one line."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*super().list_commands(ctx), *_plugins()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; a command of another package is imported here, when it is used."""
        found = super().get_command(ctx, cmd_name)
        plugin = None if found is not None else _plugins().get(cmd_name)
        return found if plugin is None else typer.main.get_command(plugin.load())

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        The exit code is 0, 1 for an error of this package, 2 for wrong usage and
        a missing extra, 130 for Ctrl+C, and 141 if the reader of a pipe has closed it.
        """
        try:
            with warnings_as_notes():
                result = super().invoke(ctx)
                sys.stdout.flush()
        except LikewiseError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(2 if isinstance(error, ImportError) else 1) from error
        except ModuleNotFoundError as error:
            message = _missing_extra(error, ctx.invoked_subcommand)
            if message is None:
                raise
            typer.echo(f"Error: {message}", err=True)
            raise typer.Exit(2) from error
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


app: typer.Typer = typer.Typer(
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


_COMMANDS: tuple[Callable[..., None], ...] = (
    *(start, ask, fit, predict),
    *(export, report, answers, embed, repair),
)
for _command in _COMMANDS:
    app.command()(_command)


def run() -> None:
    """Run the command line; the entry point of the package."""
    app(prog_name="likewise")
