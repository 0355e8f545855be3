"""Files that are there whole or not at all."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from likewise.errors import SessionError
from likewise.session.words import in_words


def write_new(path: Path, write: Callable[[IO[str]], Any]) -> None:
    """Write a new text file; one that exists is never overwritten.

    Names of files that are not valid UTF-8 are written as the bytes they are on disk.
    """
    if path.exists():
        raise SessionError(
            f"{path} already exists and was not overwritten; choose another name, or remove it."
        )

    def write_text(descriptor: int) -> None:
        with open(
            descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="", closefd=False
        ) as stream:
            write(stream)

    write_whole(path, write_text)


def write_whole(path: Path, write: Callable[[int], Any]) -> None:
    """Let `write` fill a file descriptor, then put the file at `path` at once."""
    with in_words(path):
        descriptor, fresh = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            write(descriptor)
            os.fsync(descriptor)
            os.fchmod(descriptor, 0o644)
            os.replace(fresh, path)
        except BaseException:
            os.unlink(fresh)
            raise
        finally:
            os.close(descriptor)
