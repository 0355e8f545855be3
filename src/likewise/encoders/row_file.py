"""A ``.npy`` file of rows that grows at its end and is read through a memory map."""

import io
import os
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.floating | np.uint8]


class RowFile:
    """Rows of one width and type; how many of them count is for the owner to know.

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
        """Return how many whole rows lie in the file; none if it is missing or not this kind."""
        try:
            with self.path.open("rb") as file:
                is_ours = _first_facts(file) == (self.width, self.dtype)
                size = os.fstat(file.fileno()).st_size
        except (FileNotFoundError, ValueError):
            return 0
        return (size - self._header_size) // self._row_size if is_ours else 0

    def write(self, start: int, rows: Rows) -> None:
        """Put `rows` after the first `start` ones and drop whatever lay there.

        If the disk is full the file is left with its first `start` rows.
        """
        stop = start + len(rows)
        with open_to_change(self.path) as file:
            write_from(file, self._header_size + start * self._row_size, rows.tobytes())
            # Only for people who `np.load` the file; we never believe the count in it.
            write_over(file, 0, self._header(stop))

    def read(self, n_rows: int) -> Rows:
        """Return the first `n_rows` rows, mapped, not copied."""
        shape = (n_rows, self.width)
        return np.memmap(self.path, self.dtype, mode="r", offset=self._header_size, shape=shape)

    def _header(self, n_rows: int) -> bytes:
        """Return the header; NumPy pads it so that its length does not depend on the count."""
        header = io.BytesIO()
        facts = {"descr": self.dtype.str, "fortran_order": False, "shape": (n_rows, self.width)}
        np.lib.format.write_array_header_1_0(header, facts)
        return header.getvalue()


def _first_facts(file: BinaryIO) -> tuple[int, np.dtype[np.generic]]:
    np.lib.format.read_magic(file)
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    return shape[-1], dtype


def open_to_change(path: Path) -> BinaryIO:
    """Open a file to write at any place of it; it is made if it is missing."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+b", buffering=0)


def write_from(file: BinaryIO, start: int, content: bytes) -> None:
    """Make `content` the end of the file, from `start` on, and wait until it is on the disk.

    If that fails the file ends at `start`.
    """
    file.truncate(start)
    try:
        write_over(file, start, content)
        os.fsync(file.fileno())
    except OSError:
        file.truncate(start)
        raise


def write_over(file: BinaryIO, start: int, content: bytes) -> None:
    """Write all of `content` at `start`; an unbuffered write may take only part at a time."""
    file.seek(start)
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]
