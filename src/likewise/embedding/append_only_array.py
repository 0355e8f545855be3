"""A growing ``.npy`` file, and writes that leave a file valid if they fail."""

import io
import os
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from likewise.session.atomic import permissions_in

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
        self.path, self.width, self.dtype = path, width, np.dtype(dtype)
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
