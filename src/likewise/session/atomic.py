"""Write files atomically: complete or not at all."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from likewise.errors import SessionError
from likewise.session.disk_errors import disk_errors


def write_new(path: Path, write: Callable[[IO[str]], Any]) -> None:
    """Write a new text file; raise if it exists.

    File names that are not valid UTF-8 are written as the bytes they have on disk.
    """
    if path.exists():
        raise SessionError(
            f"{path} already exists and was not overwritten; choose another name, or delete it."
        )

    def write_text(descriptor: int) -> None:
        with open(
            descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="", closefd=False
        ) as stream:
            write(stream)

    write_atomic(path, write_text)


def write_atomic(path: Path, write: Callable[[int], Any]) -> None:
    """Write a temporary file through `write`, then rename it to `path`."""
    with disk_errors(path):
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
