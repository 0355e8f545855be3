"""Find the image files below a folder, check that each can be decoded, and hash it."""

import functools
import hashlib
import os
import stat
import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path

from likewise.errors import CollectionError, ImageError
from likewise.images.collection import Skipped
from likewise.images.decoding import HEAD, format_of, open_file, read
from likewise.images.raw_photos import RAW_EXTENSIONS
from likewise.random_streams import stream as random_stream
from likewise.types import Progress, silent

EXTENSIONS = RAW_EXTENSIONS | {
    *(".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif"),
    *(".heic", ".heif", ".hif", ".avif"),
}
# Image formats that are not supported: they are reported as skipped.
UNSUPPORTED_EXTENSIONS = frozenset({".jxl", ".jp2", ".svg", ".psd"})


@dataclass
class FoundFiles:
    """The files below a folder.

    Attributes
    ----------
    files : list of (path, name)
        Possible images, ordered by name: the path below the folder, with ``/``.
    skipped : list of Skipped
        Images that are skipped without opening them.
    others : Counter
        The extensions of all other files.
    """

    files: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)

    def skip(self, name: str, reason: str) -> None:
        """Add a skipped file."""
        self.skipped.append(Skipped(name, reason))


def checked_folder(folder: Path) -> Path:
    """Return `folder`; raise `CollectionError` if it is not one."""
    if not folder.exists():
        raise CollectionError(f"The folder {str(folder)!r} does not exist; check its name.")
    if not folder.is_dir():
        raise CollectionError(
            f"{str(folder)!r} is a file, not a folder; give the folder that contains it, "
            "or a list of paths."
        )
    return folder


def find_files(folder: Path) -> FoundFiles:
    """Return the files below `folder` that may be images, in a fixed order."""
    root, found = os.path.realpath(folder), FoundFiles()

    def cannot_open(error: OSError) -> None:
        found.skip(_name(root, error.filename), f"cannot be opened ({error.strerror}).")

    for parent, folders, files in os.walk(root, onerror=cannot_open):
        folders[:] = [name for name in folders if not _is_ignored(name)]
        for link in filter(os.path.islink, [os.path.join(parent, name) for name in folders]):
            found.skip(_name(root, link), "is a link to a folder; links are not followed.")
        for name in files:
            if not name.startswith("."):
                _classify(os.path.join(parent, name), root, found)
    found.files.sort(key=lambda file: file[1])
    return found


def _is_ignored(folder: str) -> bool:
    return folder.startswith(".") or folder.endswith(".likewise")


def _name(root: str, path: str) -> str:
    """Return the path below the root; `os.fsencode` returns its bytes if they are not UTF-8."""
    return path.removeprefix(root).lstrip(os.sep).replace(os.sep, "/") or "."


def _classify(path: str, root: str, found: FoundFiles) -> None:
    """Add a file to the images, the skipped files or the other files of `found`."""
    name, extension = _name(root, path), os.path.splitext(path)[1].lower()
    is_image_by_name = extension in EXTENSIONS or extension in UNSUPPORTED_EXTENSIONS
    if _leads_outside(path, root):
        if is_image_by_name:
            found.skip(name, "is a link to a file outside the folder; copy the image instead.")
    elif is_image_by_name or _is_image_by_content(path):
        found.files.append((path, name))
    else:
        found.others[extension] += 1


def _leads_outside(path: str, root: str) -> bool:
    if not os.path.islink(path):
        return False
    return os.path.commonpath([os.path.realpath(path), root]) != root


def _is_image_by_content(path: str) -> bool:
    if not os.path.isfile(path):  # opening a pipe would block
        return False
    try:
        with open(path, "rb") as stream:
            return format_of(stream.read(HEAD)) is not None
    except OSError:
        return False


_FIRST_CHUNK, _MIN_READABLE = 32, 32  # of the files that are validated first
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


def validate_some(
    files: Sequence[tuple[str, str]], progress: Progress, known: Known | None, seconds: float
) -> list[ImageFile | Skipped]:
    """Return what `validate_files` returns, in the order of names, for as many files as possible.

    The files are taken in a random order, until the time is over and `_MIN_READABLE` images have
    been found.
    """
    end = time.monotonic() + seconds
    order = random_stream(0, "first files").permutation(len(files)).tolist()
    results: list[ImageFile | Skipped] = []
    n_readable = 0
    for start in range(0, len(files), _FIRST_CHUNK):
        chunk = [files[i] for i in order[start : start + _FIRST_CHUNK]]
        found = validate_files(chunk, silent, known)
        results += found
        n_readable += sum(isinstance(one, ImageFile) for one in found)
        progress(len(results), len(files))
        if time.monotonic() > end and n_readable >= _MIN_READABLE:
            break
    return sorted(results, key=lambda one: one.name)


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
