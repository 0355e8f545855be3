"""Read every file once: check that it can be decoded, and compute its content hash."""

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
from likewise.images.decoding import open_file, read
from likewise.images.unreadable import Skipped
from likewise.progress import Progress

_CHUNK = 512  # files submitted to the threads at once; bounds the memory of the queue


@dataclass(frozen=True, slots=True)
class ImageFile:
    """A readable image file, with its size and modification time when it was validated."""

    path: str
    name: str
    identity: str  # SHA-256 of the file, 64 hexadecimal digits
    n_bytes: int
    changed_at: int  # nanoseconds


Known = Mapping[tuple[str, int, int], str]  # (name, size, mtime in ns) -> content hash


def validate_files(
    files: Sequence[tuple[str, str]], progress: Progress, known: Known | None = None
) -> list[ImageFile | Skipped]:
    """Return for each (path, name), in order, the image file or why it is skipped.

    Every image is decoded, JPEGs at an eighth of their size: all bytes are read, so truncated
    files are detected, in a fraction of the time. Files that pass can be decoded later. A file
    in `known` that has not changed is not opened.
    """
    results: list[ImageFile | Skipped] = []
    validate = _validate if not known else functools.partial(_validate_unless_known, known)
    with warnings.catch_warnings(), ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        # Pillow warns about unusual metadata; real problems raise exceptions.
        warnings.filterwarnings("ignore", module=r"PIL\.")
        for start in range(0, len(files), _CHUNK):
            for result in pool.map(validate, files[start : start + _CHUNK]):
                results.append(result)
                progress(len(results), len(files))
    return results


def content_hash(stream: BufferedReader) -> str:
    """Return the SHA-256 of an open file, and rewind it."""
    digest = hashlib.file_digest(stream, "sha256").hexdigest()
    stream.seek(0)
    return digest


def check_regular(path: str) -> None:
    """Raise if `path` is a pipe or a device: opening it may block forever."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return  # opening the file raises the error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ImageError("is a pipe or a device, not a file; leave it out.")


def _validate_unless_known(known: Known, file: tuple[str, str]) -> ImageFile | Skipped:
    path, name = file
    try:
        status = os.stat(path)
    except OSError:
        return _validate(file)
    identity = known.get((name, status.st_size, status.st_mtime_ns))
    if identity is None:
        return _validate(file)
    return ImageFile(path, name, identity, status.st_size, status.st_mtime_ns)


def _validate(file: tuple[str, str]) -> ImageFile | Skipped:
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
    return ImageFile(path, name, identity, status.st_size, status.st_mtime_ns)
