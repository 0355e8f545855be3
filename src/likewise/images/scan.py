"""Look at every file once: whether it can be decoded, and what its content hash is."""

import functools
import hashlib
import os
import stat
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BufferedReader

from likewise.errors import ImageError
from likewise.images.decode import open_file, read
from likewise.images.skipped import Skipped
from likewise.progress import Progress

_AT_ONCE = 512  # files handed to the threads together; bounds the memory of the queue


@dataclass(frozen=True, slots=True)
class Found:
    """A picture file as it was when it was scanned."""

    path: str
    name: str
    identity: str  # SHA-256 of the file, 64 hexadecimal digits
    n_bytes: int
    changed_at: int  # nanoseconds


Known = Mapping[tuple[str, int, int], str]  # (name, size, mtime in ns) -> content hash


def scan(
    files: Sequence[tuple[str, str]], progress: Progress, known: Known | None = None
) -> list[Found | Skipped]:
    """Return for each (path, name), in order, what was found or why it is left out.

    Every picture is decoded, JPEGs at an eighth of their size: all their bytes
    are read, so what is truncated is caught, at a fraction of the time. What
    passes here can be decoded later. A file that is `known` and has not changed since is not
    opened.
    """
    results: list[Found | Skipped] = []
    look = _look if not known else functools.partial(_look_unless_known, known)
    with warnings.catch_warnings(), ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        # Pillow warns of odd metadata; what matters to us, it raises.
        warnings.filterwarnings("ignore", module=r"PIL\.")
        for start in range(0, len(files), _AT_ONCE):
            for result in pool.map(look, files[start : start + _AT_ONCE]):
                results.append(result)
                progress(len(results), len(files))
    return results


def content_hash(stream: BufferedReader) -> str:
    """Return the SHA-256 of an open file, and rewind it."""
    digest = hashlib.file_digest(stream, "sha256").hexdigest()
    stream.seek(0)
    return digest


def _look_unless_known(known: Known, file: tuple[str, str]) -> Found | Skipped:
    path, name = file
    try:
        status = os.stat(path)
    except OSError:
        return _look(file)
    identity = known.get((name, status.st_size, status.st_mtime_ns))
    if identity is None:
        return _look(file)
    return Found(path, name, identity, status.st_size, status.st_mtime_ns)


def _look(file: tuple[str, str]) -> Found | Skipped:
    path, name = file
    try:
        check_regular(path)
        with open_file(path) as stream:
            status = os.fstat(stream.fileno())
            identity = content_hash(stream)
            read(stream, at_least=1)
    except ImageError as error:
        return Skipped(name, str(error))
    except OSError as error:
        return Skipped(name, f"cannot be read ({error.strerror}); check the disk it is on.")
    return Found(path, name, identity, status.st_size, status.st_mtime_ns)


def check_regular(path: str) -> None:
    """Raise if `path` is a pipe or a device: opening one may wait for ever."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return  # opening it says why
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ImageError("is a pipe or a device, not a file; leave it out.")
