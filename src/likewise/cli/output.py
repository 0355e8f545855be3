"""Results out: on stdout, and into files that are there whole or not at all."""

import csv
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from likewise.errors import OutputError


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
    from likewise.session.atomic import write_whole

    def write(descriptor: int) -> None:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            stream.write(content)

    write_whole(path, write)


def some_words(n: int, word: str) -> str:
    """Return a count with its word: ``1 picture``, ``1,200 pictures``."""
    return f"{n:,} {word}{'s' * (n != 1)}"
