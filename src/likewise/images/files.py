"""A collection of picture files that were scanned: pixels are decoded on demand."""

import os
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path

from likewise.errors import ImageError
from likewise.images.collection import Pixels
from likewise.images.decode import naming, open_file, read
from likewise.images.duplicates import find_duplicates
from likewise.images.scan import Found, check_regular, content_hash
from likewise.images.skipped import Skipped


class FileCollection:
    """Picture files in a fixed order.

    Parameters
    ----------
    found : sequence of Found
        The files that can be decoded.
    skipped : sequence of Skipped
        The files that were left out, with reasons.

    Attributes
    ----------
    skipped : list of Skipped
    duplicates : list of lists of int
        Positions that hold the same file content, each list of two or more.
    """

    def __init__(self, found: Sequence[Found], skipped: Sequence[Skipped]) -> None:
        self._found = list(found)
        self.skipped = list(skipped)
        self.duplicates = find_duplicates(one.identity for one in self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} images, {len(self.skipped)} skipped)"

    def pixels(self, index: int, *, at_least: int | None = None) -> Pixels:
        """Return one image upright, as RGB of its own size (h, w, 3).

        Parameters
        ----------
        index : int
        at_least : int, optional
            Let a JPEG come smaller, when both its sides stay at least this long.

        Raises
        ------
        ImageError
            If the file vanished, broke, or holds another picture than when it was scanned.
        """
        found = self._found[index]
        with naming(repr(found.name)):
            check_regular(found.path)
            with open_file(found.path) as stream:
                _check_unchanged(stream, found)
                return read(stream, at_least=at_least)

    def identity(self, index: int) -> str:
        """Return the SHA-256 of the file."""
        return self._found[index].identity

    def name(self, index: int) -> str:
        """Return the path as a person calls it: below the folder, or as it was given."""
        return self._found[index].name

    def path(self, index: int) -> Path:
        """Return where the file lies."""
        return Path(self._found[index].path)


def _check_unchanged(stream: BufferedReader, found: Found) -> None:
    """Raise if the identity is no longer that of the file: vectors are kept under it."""
    status = os.fstat(stream.fileno())
    if (status.st_size, status.st_mtime_ns) == (found.n_bytes, found.changed_at):
        return
    if content_hash(stream) != found.identity:
        raise ImageError("was changed since it was scanned; read the folder again.")
