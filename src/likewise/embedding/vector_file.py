"""One file of the embedding cache: vectors of one encoder, appended, and found by content hash.

``NAME.npy`` has one row per image, all feature blocks concatenated. ``NAME.jsonl`` has the
columns on its first line and the content hash of each row on the following ones. A row exists
once its hash is complete, and the hash is written after the row. Anything beyond, from a writer
that was killed or a full disk, is ignored and overwritten. If a hash occurs twice, its last row
is used: a damaged row is computed again and appended. A damaged file is replaced by an empty one.
"""

import errno
import io
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from filelock import FileLock

from likewise.errors import EncoderError, InvalidParameterError, LikewiseWarning
from likewise.session.atomic import create_file, hidden_name, make_folder, permissions_in
from likewise.types import Floats, Indexes

Rows = npt.NDArray[np.floating | np.uint8]


class AppendOnlyArray:
    """A ``.npy`` file of rows that grows at its end and is read through a memory map.

    The number of valid rows is not stored here; the owner keeps it.

    Parameters
    ----------
    path : Path
    width : int
    dtype : {"float16", "float32", "uint8"}
    """

    def __init__(self, path: Path, width: int, dtype: str) -> None:
        self.path = path
        self.width = width
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._row_size = width * self.dtype.itemsize
        self._header_size = len(self._header(0))

    def n_rows(self) -> int:
        """Return the number of complete rows; 0 if the file is missing or of another type."""
        if not self._has_header():
            return 0
        return (self.path.stat().st_size - self._header_size) // self._row_size

    def is_damaged(self) -> bool:
        """Return whether there is a file that is long enough, but not of such rows."""
        try:
            is_long = self.path.stat().st_size >= self._header_size
        except FileNotFoundError:
            return False
        return is_long and not self._has_header()

    def _has_header(self) -> bool:
        """Return whether the file begins with the header of such rows."""
        try:
            with self.path.open("rb") as file:
                start = file.read(self._header_size)
            header = io.BytesIO(start)
            np.lib.format.read_magic(header)
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(header)
        except FileNotFoundError:
            return False
        except OSError:
            raise
        except Exception:  # NumPy parses the header as Python: any error is possible
            return False
        has_length = header.tell() == self._header_size
        return has_length and (shape[1:], is_fortran, dtype) == ((self.width,), False, self.dtype)

    def write(self, start: int, rows: Rows) -> None:
        """Write `rows` after the first `start` ones and drop any rows beyond.

        If the disk is full, the file keeps its first `start` rows.
        """
        with open_for_update(self.path) as file:
            replace_tail(file, self._header_size + start * self._row_size, rows.tobytes())
            # Only for users who call `np.load` on the file; `n_rows` does not use this count.
            _write_at(file, 0, self._header(start + len(rows)))

    def read(self, n_rows: int) -> Rows:
        """Return the first `n_rows` rows as a memory map."""
        shape = (n_rows, self.width)
        return np.memmap(self.path, self.dtype, mode="r", offset=self._header_size, shape=shape)

    def _header(self, n_rows: int) -> bytes:
        """Return the header; NumPy pads it, so its length does not depend on the row count."""
        header = io.BytesIO()
        fields = {"descr": self.dtype.str, "fortran_order": False, "shape": (n_rows, self.width)}
        np.lib.format.write_array_header_1_0(header, fields)
        return header.getvalue()


def open_for_update(path: Path) -> BinaryIO:
    """Open a file for writing anywhere in it; create it if it is missing."""
    mode = permissions_in(path.parent, 0o666)
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, mode), "r+b", buffering=0)


def replace_tail(file: BinaryIO, start: int, content: bytes) -> None:
    """Replace everything from `start` on by `content` and sync it to disk.

    On an error the file ends at `start`.
    """
    file.truncate(start)
    try:
        _write_at(file, start, content)
        os.fsync(file.fileno())
    except OSError:
        file.truncate(start)
        raise


def _write_at(file: BinaryIO, start: int, content: bytes) -> None:
    """Write all of `content` at `start`; an unbuffered write may be partial."""
    file.seek(start)
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]


_FORMAT = 1
_DTYPES = ("float16", "float32", "uint8")
_WIDTHS = "facets"  # key of the widths of the blocks, as in release 0.1
_LARGEST_HALF = 65504.0
_ROWS_PER_COPY = 4096  # bounds the memory of a copy
_MAX_HEADER = 65536  # bytes


class VectorFile:
    """The cached vectors of one encoder; several processes may add to it at the same time.

    Parameters
    ----------
    folder : Path
    name : str
        Name of the encoder; with the content hash of an image it is the key of a vector.
    widths : mapping of str to int
        The feature blocks in order with their widths.
    dtype : {"float16", "float32", "uint8"}
        Type on disk; `read` returns float32.

    Raises
    ------
    EncoderError
        If the file has other blocks, or cannot be read or created.
    """

    def __init__(
        self, folder: Path, name: str, widths: Mapping[str, int], dtype: str = "float32"
    ) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise InvalidParameterError(
                "The name of an encoder must be a file name of letters, digits, dots, "
                f"underscores and dashes, got {name!r}."
            )
        self.name = name
        self.widths: dict[str, int] = dict(widths)
        self.dtype: Any = dtype
        self._folder, self._index = folder, folder / f"{name}.jsonl"
        self._data = AppendOnlyArray(folder / f"{name}.npy", sum(widths.values()), dtype)
        self._lock = FileLock(folder / ".lock", mode=0o600)
        self._rows: dict[str, int] = {}
        self._n_rows = self._index_end = 0
        with _explained(f"The vectors in {folder}"):
            self._open()

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, identity: str) -> bool:
        return identity in self._rows

    def add(self, identities: Sequence[str], vectors: Rows) -> None:
        """Append one row for each identity; existing rows are left unchanged.

        Raises
        ------
        EncoderError
            If the disk is full or read-only; existing rows stay readable.
        """
        with _explained(f"The {len(self)} vectors in {self._index}"), self._lock:
            self._refresh()
            fresh = {name: row for row, name in enumerate(identities) if name not in self._rows}
            if not fresh:
                return
            rows = to_storage(vectors[list(fresh.values())], self.dtype)
            lines = "".join(json.dumps(name) + "\n" for name in fresh).encode()
            self._data.write(self._n_rows, rows)
            with open_for_update(self._index) as file:
                replace_tail(file, self._index_end, lines)
            self._register(list(fresh), len(lines))

    def read(self, identities: Sequence[str]) -> Floats:
        """Return the rows of `identities` in their order, ``(n, sum of widths)`` float32."""
        stored, rows = self.lookup(identities)
        vectors = np.empty((len(rows), self._data.width), np.float32)
        for start in range(0, len(rows), _ROWS_PER_COPY):
            part = slice(start, start + _ROWS_PER_COPY)
            vectors[part] = stored[rows[part]]
        return vectors

    def lookup(self, identities: Sequence[str]) -> tuple[Rows, Indexes]:
        """Return all stored rows as a memory map, and the row numbers of `identities`."""
        rows = np.fromiter((self._rows[name] for name in identities), np.intp, len(identities))
        if not self._n_rows:
            return np.empty((0, self._data.width), self.dtype), rows
        return self._data.read(self._n_rows), rows

    def forget(self, identities: Sequence[str]) -> None:
        """Treat the rows of `identities` as missing, so that `add` appends them again."""
        for identity in identities:
            self._rows.pop(identity, None)

    def _open(self) -> None:
        """Read the index, or create it; damaged files are replaced by empty ones."""
        if not self._index.exists():
            make_folder(self._folder)
            with self._lock:
                self._create()
        header, length = self._read_header()
        if header is not None:
            self._check_header(header)
        if header is None or self._data.is_damaged():
            header, length = self._repair()
            self._check_header(header)
        self._rows, self._n_rows, self._index_end = {}, 0, length
        self._read_new_rows()

    def _read_header(self) -> tuple[dict[str, Any] | None, int]:
        """Return the header of the index, None if it is damaged, and its length in bytes."""
        with self._index.open("rb") as file:
            first = file.readline(_MAX_HEADER)
        return _parse_header(first, self._index), len(first)

    def _repair(self) -> tuple[dict[str, Any], int]:
        """Replace both files by an empty index if one is damaged; return header and length.

        Under the lock: a file that another process is just creating is not damaged.
        """
        with self._lock:
            header, length = self._read_header()
            if header is None or self._data.is_damaged():
                damaged = self._index if header is None else self._data.path
                self._index.unlink(missing_ok=True)
                self._data.path.unlink(missing_ok=True)
                self._create()
                header, length = self._read_header()
                warnings.warn(
                    f"{damaged} was damaged; the vectors of {self.name} are computed again.",
                    LikewiseWarning,
                    stacklevel=2,
                )
        assert header is not None  # `_create` has just written it
        return header, length

    def _create(self) -> None:
        """Write the header of the index, atomically."""
        if self._index.exists():  # created by another process
            return
        header = {"format": _FORMAT, "encoder": self.name, _WIDTHS: self.widths}
        line = json.dumps({**header, "dtype": self.dtype}) + "\n"
        temporary = hidden_name(self._index)
        with open(create_file(temporary), "w", encoding="utf-8") as file:
            file.write(line)
        os.replace(temporary, self._index)

    def _check_header(self, header: dict[str, Any]) -> None:
        if list(header[_WIDTHS].items()) != list(self.widths.items()):
            raise EncoderError(
                f"{self._index} has vectors of {_describe(header['facets'])}, but the encoder "
                f"{self.name!r} now returns {_describe(self.widths)}. Delete that file to compute "
                "all vectors again, or rename the changed encoder."
            )
        self.dtype = header["dtype"]
        self._data = AppendOnlyArray(self._data.path, self._data.width, self.dtype)

    def _refresh(self) -> None:
        """Read what other processes added; reopen if files were deleted or truncated."""
        if not self._index.exists():
            self._create()
        has_shrunk = self._index.stat().st_size < self._index_end
        if has_shrunk or self._data.n_rows() < self._n_rows:
            self._open()
        else:
            self._read_new_rows()

    def _read_new_rows(self) -> None:
        """Register the rows whose hash is complete and whose data exist."""
        with self._index.open("rb") as file:
            file.seek(self._index_end)
            *lines, _ = file.read().split(b"\n")
        names = _parse_names(lines[: self._data.n_rows() - self._n_rows])
        self._register(names, sum(len(line) + 1 for line in lines[: len(names)]))

    def _register(self, names: list[str], n_bytes: int) -> None:
        self._rows |= {name: self._n_rows + i for i, name in enumerate(names)}
        self._n_rows += len(names)
        self._index_end += n_bytes


def to_storage(vectors: Rows, dtype: str) -> Rows:
    """Return `vectors` in the dtype of the file; float16 is clipped to its finite range."""
    if dtype == "float16":
        vectors = np.clip(vectors, -_LARGEST_HALF, _LARGEST_HALF)
    return vectors.astype(dtype)


def _parse_header(line: bytes, path: Path) -> dict[str, Any] | None:
    """Return the header of an index; None if it is damaged."""
    try:
        header: dict[str, Any] = json.loads(line)
        is_newer = header["format"] > _FORMAT
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    if is_newer:
        raise EncoderError(
            f"{path} was written by a newer release. Upgrade likewise, or delete it; "
            "the vectors are then computed again."
        )
    widths = header.get(_WIDTHS)
    is_valid = isinstance(widths, dict) and all(isinstance(n, int) for n in widths.values())
    return header if is_valid and header.get("dtype") in _DTYPES else None


def _parse_names(lines: list[bytes]) -> list[str]:
    """Return the hashes on `lines`, up to the first damaged one."""
    names: list[str] = []
    try:
        names = json.loads(b"[" + b",".join(lines) + b"]")  # much faster than one by one
    except ValueError:
        for line in lines:
            try:
                names.append(json.loads(line))
            except ValueError:
                break
    is_name = [isinstance(name, str) for name in names]
    return names if all(is_name) else names[: is_name.index(False)]


def _describe(widths: Mapping[str, int]) -> str:
    each = ", ".join(f"{name} {width}" for name, width in widths.items())
    return f"{sum(widths.values())} numbers per image ({each})"


@contextmanager
def _explained(vectors: str) -> Iterator[None]:
    """Turn an OSError into an EncoderError that says what to do."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
        reason = "the disk is full" if is_full else f"{error.strerror} ({error.filename})"
        remedy = "Free some space" if is_full else "Make the folder writable"
        raise EncoderError(
            f"{vectors} cannot be extended: {reason}. Existing vectors are not lost. {remedy} and "
            "run the command again, or use another disk (the session folder, or LIKEWISE_CACHE)."
        ) from error
