"""Console output of all commands: results on stdout, notes and progress bars on stderr."""

import json
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TextIO

from likewise.errors import LikewiseWarning, OutputError

if TYPE_CHECKING:  # it imports NumPy, and `--help` must be fast
    from likewise.types import Progress as ProgressCallback


def print_line(text: str) -> None:
    """Print a line of the result on stdout."""
    sys.stdout.write(text + "\n")


def print_json(result: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout, in one line."""
    text = json.dumps(result, ensure_ascii=False, allow_nan=False)
    print_line(text.encode("utf-8", "backslashreplace").decode())  # names that are not UTF-8


def check_new_path(path: Path | None) -> None:
    """Check that a new file or folder can be written; call this before a long step.

    Raises
    ------
    OutputError
        If `path` exists, or its folder does not exist or is not writable.
    """
    if path is None:
        return
    if path.exists():
        raise OutputError(
            f"{path} already exists and was not overwritten; choose another path, or delete it."
        )
    check_parent_folder(path)


def check_parent_folder(path: Path) -> None:
    """Check that the folder of a path exists and is writable; raise `OutputError` if not."""
    parent = path.absolute().parent
    if not parent.is_dir():
        raise OutputError(f"{path} cannot be written: {parent} is not a folder; create it first.")
    if not os.access(parent, os.W_OK):
        raise OutputError(
            f"{path} cannot be written: {parent} is read-only for you; choose another path."
        )


def replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically; it replaces an earlier one."""
    from likewise.session.atomic import write_atomic

    def write(descriptor: int) -> None:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            stream.write(content)

    write_atomic(path, write)


def count_noun(n: int, noun: str) -> str:
    """Return a count with its noun: ``1 image``, ``1,200 images``."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


_MAX_LINES = 20


def print_note(text: str) -> None:
    """Print a line on stderr, above the progress bars if there are any.

    It is written to `sys.stderr`, which rich redirects while bars are shown: the output of
    `typer.echo` would appear inside the line of an unfinished bar.
    """
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def print_note_list(title: str, lines: Sequence[object]) -> None:
    """Print a title and the lines below it on stderr; only the first lines of a long list."""
    if not lines:
        return
    print_note(title)
    for line in lines[:_MAX_LINES]:
        print_note(f"  {line}")
    if len(lines) > _MAX_LINES:
        print_note(f"  … and {len(lines) - _MAX_LINES:,} more.")


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Show the warnings of this package as one line; leave all others as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", LikewiseWarning)
        default = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, LikewiseWarning):
                print_note(f"Note: {message}")
            else:
                default(message, category, filename, lineno, file or sys.stderr, line)

        warnings.showwarning = show
        yield


class ProgressBars:
    """One progress bar for each step, shown inside a ``with`` block.

    Examples
    --------
    >>> with ProgressBars() as bars:
    ...     progress = bars.step("reading images")
    ...     progress(1, 10)
    """

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            ProgressColumn,
            Task,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text

        class Rate(ProgressColumn):
            """Items per second, or seconds per item."""

            def render(self, task: Task) -> Text:
                speed = task.finished_speed or task.speed
                if not speed:
                    return Text("")
                return Text(f"{speed:,.0f}/s" if speed >= 1 else f"{1 / speed:.1f} s each")

        self._progress = Progress(
            TextColumn("{task.description:<24}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            Rate(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def step(self, title: str) -> "ProgressCallback":
        """Return a callback for the progress of one step.

        A step that starts again (the next round of a training) resets its bar.
        """
        task: Any = None
        last = 0

        def update(done: int, total: int) -> None:
            nonlocal task, last
            if task is None:
                task = self._progress.add_task(title, total=total)
            elif done < last:
                self._progress.reset(task, total=total)
            self._progress.update(task, completed=done, total=total)
            last = done

        return update
