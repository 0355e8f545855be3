"""Console output: results on stdout, notes and progress bars on stderr, result files."""

import csv
import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self, TextIO

from likewise.errors import LikewiseWarning, OutputError
from likewise.progress import Progress as ProgressCallback


def say(text: str) -> None:
    """Print a line of the result on stdout."""
    sys.stdout.write(text + "\n")


def print_json(result: Mapping[str, Any]) -> None:
    """Print one object on stdout, in one line."""
    say(json.dumps(result, ensure_ascii=False, allow_nan=False))


def write_table(stream: IO[str], header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV table to an open file or to stdout."""
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(header)
    table.writerows(rows)


def check_free(path: Path | None) -> None:
    """Refuse a place to write to before the long work, not after it.

    Raises
    ------
    OutputError
        If there is something at `path`, or its folder is not there or not writable.
    """
    if path is None:
        return
    if path.exists():
        raise OutputError(
            f"{path} already exists and is not overwritten; choose another name, or remove it."
        )
    check_place(path)


def check_place(path: Path) -> None:
    """Refuse a place whose folder is not there or not writable."""
    parent = path.absolute().parent
    if not parent.is_dir():
        raise OutputError(f"{path} cannot be made: {parent} is not a folder; make it first.")
    if not os.access(parent, os.W_OK):
        raise OutputError(
            f"{path} cannot be made: {parent} is read-only for you; choose another place."
        )


def replace_file(path: Path, content: bytes) -> None:
    """Write a file at once, in the place of an earlier one."""
    from likewise.session.atomic import write_atomic

    def write(descriptor: int) -> None:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            stream.write(content)

    write_atomic(path, write)


def count_noun(n: int, word: str) -> str:
    """Return a count with its word: ``1 picture``, ``1,200 pictures``."""
    return f"{n:,} {word}{'s' * (n != 1)}"


_MOST_LINES = 20


def note(text: str) -> None:
    """Say something on stderr, above the bars if there are any.

    It must go to `sys.stderr` itself, which bars watch: `typer.echo` would write past them, into
    the line of one that is not finished.
    """
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def note_list(title: str, lines: Sequence[object]) -> None:
    """Say something with a list below it; of a long list the first lines and how many follow."""
    if not lines:
        return
    note(title)
    for line in lines[:_MOST_LINES]:
        note(f"  {line}")
    if len(lines) > _MOST_LINES:
        note(f"  … and {len(lines) - _MOST_LINES:,} more.")


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show our own warnings as one line; all others stay as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", LikewiseWarning)
        usual = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, LikewiseWarning):
                note(f"Note: {message}")
            else:
                usual(message, category, filename, lineno, file or sys.stderr, line)

        warnings.showwarning = show
        yield


class Bars:
    """One bar a step, shown while inside ``with``.

    Examples
    --------
    >>> with Bars() as bars:
    ...     tell = bars.step("reading pictures")
    ...     tell(1, 10)
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

        self._shown = Progress(
            TextColumn("{task.description:<24}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            Rate(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )

    def __enter__(self) -> Self:
        self._shown.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.stop()

    def step(self, title: str) -> ProgressCallback:
        """Return what a long step calls with the work done and all there is.

        A step that begins again (the next round of a training) begins its bar again.
        """
        task: Any = None
        last = 0

        def tell(done: int, total: int) -> None:
            nonlocal task, last
            if task is None:
                task = self._shown.add_task(title, total=total)
            elif done < last:
                self._shown.reset(task, total=total)
            self._shown.update(task, completed=done, total=total)
            last = done

        return tell
