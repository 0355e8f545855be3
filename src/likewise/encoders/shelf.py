"""The vectors of one encoder on disk: rows are only ever added, so nothing finished is lost.

``NAME.npy`` holds one row an image, all facets side by side; ``NAME.jsonl`` says on its
first line what the columns are, and then the content hash of each row. A row counts once
its hash is written in full, and that happens after the row is. Whatever lies beyond, from
a writer that was killed or a disk that was full, is ignored and written over.
"""

import errno
import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.encoders.encoder import Floats
from likewise.encoders.rounding import rounded
from likewise.encoders.row_file import RowFile, Rows, open_to_change, write_from
from likewise.errors import EncoderError, InvalidParameterError

_FORMAT = 1
_ROWS_AT_ONCE = 4096  # bounds what is copied at a time


class Shelf:
    """The kept vectors of one encoder; another process may add to it at the same time.

    Parameters
    ----------
    folder : Path
    name : str
        The encoder's; with the hash of a picture it is the key of a vector.
    facets : mapping of str to int
        The facets in order with their widths.
    dtype : {"float16", "float32", "uint8"}
        How numbers are kept on disk; `read` makes them float32.

    Raises
    ------
    EncoderError
        If the shelf was made with other facets, or cannot be read or made.
    """

    def __init__(
        self, folder: Path, name: str, facets: Mapping[str, int], dtype: str = "float32"
    ) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise InvalidParameterError(
                f"The encoder's name {name!r} cannot be a file name; "
                "use letters, digits, dots, underscores and dashes."
            )
        self.name, self.facets, self.dtype = name, dict(facets), dtype
        self._folder, self._index = folder, folder / f"{name}.jsonl"
        self._data = RowFile(folder / f"{name}.npy", sum(facets.values()), dtype)
        self._rows: dict[str, int] = {}
        self._n_rows = self._index_end = 0
        with _in_words(f"The vectors in {folder}"):
            self._open()

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, identity: str) -> bool:
        return identity in self._rows

    def add(self, identities: Sequence[str], vectors: Rows) -> None:
        """Keep one row of all facets for each identity; those already here stay as they are.

        Raises
        ------
        EncoderError
            If the disk is full or read-only; what was kept before stays readable.
        """
        with _in_words(f"The {len(self)} vectors in {self._index}"), self._only_writer():
            self._refresh()
            fresh = {name: row for row, name in enumerate(identities) if name not in self._rows}
            if not fresh:
                return
            rows = rounded(vectors[list(fresh.values())], self.dtype)
            lines = "".join(json.dumps(name) + "\n" for name in fresh).encode()
            self._data.write(self._n_rows, rows)
            with open_to_change(self._index) as file:
                write_from(file, self._index_end, lines)
            self._count(list(fresh), len(lines))

    def read(self, identities: Sequence[str]) -> Floats:
        """Return the rows of `identities` in their order, ``(n, sum of widths)`` float32."""
        kept, rows = self.look_up(identities)
        found = np.empty((len(rows), self._data.width), np.float32)
        for at in range(0, len(rows), _ROWS_AT_ONCE):
            found[at : at + _ROWS_AT_ONCE] = kept[rows[at : at + _ROWS_AT_ONCE]]
        return found

    def look_up(self, identities: Sequence[str]) -> tuple[Rows, npt.NDArray[np.intp]]:
        """Return all rows as they are kept, mapped, and which of them are those of `identities`."""
        rows = np.fromiter((self._rows[name] for name in identities), np.intp, len(identities))
        if not self._n_rows:
            return np.empty((0, self._data.width), self.dtype), rows
        return self._data.read(self._n_rows), rows

    def _open(self) -> None:
        """Start from what is on disk, or from nothing."""
        if not self._index.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._only_writer():
                self._create()
        with self._index.open("rb") as file:
            first = file.readline()
        self._check(_facts(first, self._index))
        self._rows, self._n_rows, self._index_end = {}, 0, len(first)
        self._take_in()

    def _create(self) -> None:
        """Write the first line; with that the shelf exists."""
        if self._index.exists():  # another process was quicker
            return
        facts = {"format": _FORMAT, "encoder": self.name, "facets": self.facets}
        temporary = self._index.with_suffix(".new")
        line = json.dumps({**facts, "dtype": self.dtype}) + "\n"
        temporary.write_text(line, encoding="utf-8")
        os.replace(temporary, self._index)

    def _check(self, facts: dict[str, Any]) -> None:
        if list(facts["facets"].items()) != list(self.facets.items()):
            raise EncoderError(
                f"{self._index} holds {_widths(facts['facets'])}, but the encoder "
                f"{self.name!r} now gives {_widths(self.facets)}; delete that file to compute "
                "all vectors again, or give the changed encoder a name of its own."
            )
        self.dtype = facts["dtype"]
        self._data = RowFile(self._data.path, self._data.width, self.dtype)

    def _refresh(self) -> None:
        """Take in what others did since we last looked, be it that they deleted everything."""
        if not self._index.exists():
            self._create()
        has_shrunk = self._index.stat().st_size < self._index_end
        if has_shrunk or self._data.n_rows() < self._n_rows:
            self._open()
        else:
            self._take_in()

    def _take_in(self) -> None:
        """Count the rows whose hash is written in full, and that are there."""
        with self._index.open("rb") as file:
            file.seek(self._index_end)
            *lines, _ = file.read().split(b"\n")
        names = _whole(lines[: self._data.n_rows() - self._n_rows])
        self._count(names, sum(len(line) + 1 for line in lines[: len(names)]))

    def _count(self, names: list[str], n_bytes: int) -> None:
        self._rows |= {name: self._n_rows + i for i, name in enumerate(names)}
        self._n_rows += len(names)
        self._index_end += n_bytes

    @contextmanager
    def _only_writer(self) -> Iterator[None]:
        """Wait until nobody else writes to the folder; ends with the process in any case."""
        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _facts(line: bytes, path: Path) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads(line)
        is_known = facts["format"] <= _FORMAT and {"facets", "dtype"} <= facts.keys()
    except (ValueError, TypeError, KeyError):
        is_known = False
    if not is_known:
        raise EncoderError(
            f"{path} is damaged or from a newer release; delete it, "
            "the vectors are then computed again."
        )
    return facts


def _whole(lines: list[bytes]) -> list[str]:
    """Return the names on `lines`, up to the first that is damaged."""
    names: list[str] = []
    try:
        names = json.loads(b"[" + b",".join(lines) + b"]")  # many times faster than one by one
    except ValueError:
        for line in lines:
            try:
                names.append(json.loads(line))
            except ValueError:
                break
    return names


def _widths(facets: Mapping[str, int]) -> str:
    each = ", ".join(f"{facet} {width}" for facet, width in facets.items())
    return f"{sum(facets.values())} numbers an image ({each})"


@contextmanager
def _in_words(kept: str) -> Iterator[None]:
    """Turn what the system says into what a person can do."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
        what = "the disk is full" if is_full else f"{error.strerror} ({error.filename})"
        todo = "free some space" if is_full else "make the folder writable"
        raise EncoderError(
            f"{kept} cannot be added to: {what}. Nothing kept so far is lost; {todo} and start "
            "again, or use another disk (--session where there is a session, else LIKEWISE_CACHE)."
        ) from error
