"""What is said to a person beside the result: on stderr, so that stdout stays the result."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from likewise.errors import LikewiseWarning

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
