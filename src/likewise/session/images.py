"""The images of a session: position, content hash, name and status.

Positions are never reused: a missing image keeps its position, so that answers
about it stay valid; new images are appended. Files with equal content are
copies of one image: answers refer to one of them, and all get its cluster.
"""

import functools
import hashlib
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from likewise.errors import SessionError
from likewise.images.collection import ImageCollection, displayed_name
from likewise.session.database import Database
from likewise.session.validation import check_images
from likewise.types import Indexes

Status = Literal["present", "missing", "broken"]


@dataclass(frozen=True)
class Changes:
    """The changes found by `Images.sync`, as positions in the session.

    Parameters
    ----------
    positions : array of shape (n_collection,)
        The session's position of each image of the collection.
    added, renamed, returned, missing, broken : tuple of int
        New images; images with a new name; missing images that were found again;
        newly missing images; images whose file exists but can no longer be read.
    """

    positions: Indexes
    added: tuple[int, ...] = ()
    renamed: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    broken: tuple[int, ...] = ()


class Images:
    """The images of an open session, by position.

    Attributes
    ----------
    hashes, names : list of str
    status : list of {"present", "missing", "broken"}
    first : array of shape (n,)
        The copy that answers refer to: the first present image with the same
        content. For an image without copies, its own position.
    positions : dict
        Content hash to the position of that copy.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.load()

    def __len__(self) -> int:
        return len(self.hashes)

    def load(self) -> None:
        """Read all images from the database."""
        self.__dict__.pop("digest", None)
        rows = self._database.rows(
            "SELECT position, hash, name, status FROM image ORDER BY position"
        )
        check_images(rows)
        self.hashes: list[str] = [row[1] for row in rows]
        self.names: list[str] = [to_text(row[2]) for row in rows]
        self.status: list[Status] = [row[3] for row in rows]
        order = sorted(range(len(rows)), key=[s != "present" for s in self.status].__getitem__)
        self.positions: dict[str, int] = {}
        for i in order:  # present ones first
            self.positions.setdefault(self.hashes[i], i)
        self.first: Indexes = np.array([self.positions[h] for h in self.hashes], dtype=np.intp)
        self._present = np.array([status == "present" for status in self.status], dtype=np.bool_)
        self._n_missing = len(rows) - int(self._present.sum())
        self._askable = np.flatnonzero(self._present & (self.first == np.arange(len(rows))))
        for array in (self.first, self._present, self._askable):
            array.flags.writeable = False  # shared between threads

    @functools.cached_property
    def digest(self) -> str:
        """Return a hash of all content hashes in order; it identifies the list of images."""
        return hashlib.sha256("\n".join(self.hashes).encode()).hexdigest()

    def is_current(self) -> bool:
        """Return whether the database contains no images added since `load`."""
        ((last,),) = self._database.rows("SELECT max(position) FROM image")
        return (-1 if last is None else last) + 1 == len(self)

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Return which images are present, (n,)."""
        return self._present

    @property
    def n_missing(self) -> int:
        """Return the number of images that are not present."""
        return self._n_missing

    @property
    def askable(self) -> Indexes:
        """Return the positions to ask about: present images, one per set of copies, (m,)."""
        return self._askable

    def changed_at(self) -> npt.NDArray[np.int64]:
        """Return the time each file was changed, in ns, (n,); 0 where it is not known."""
        rows = self._database.rows("SELECT mtime FROM image ORDER BY position")
        return np.array([at or 0 for (at,) in rows[: len(self)]], dtype=np.int64)

    @property
    def known_files(self) -> dict[tuple[str, int, int], str]:
        """Return the content hash by (name, size, mtime in ns), to avoid hashing files again."""
        rows = self._database.rows(
            "SELECT name, size, mtime, hash FROM image WHERE size IS NOT NULL ORDER BY position"
        )
        return {(to_text(name), size, mtime): content for name, size, mtime, content in rows}

    def sync(self, collection: ImageCollection, root: Path | None = None) -> Changes:
        """Update the images from `collection`; nothing is deleted.

        Parameters
        ----------
        collection : ImageCollection
        root : Path, optional
            The folder that its names are relative to; sizes and times are read there.
        """
        found = [(collection.identity(i), collection.name(i)) for i in range(len(collection))]
        skipped = {entry.name for entry in getattr(collection, "skipped", ())}
        positions = _match(found, list(zip(self.hashes, self.names, strict=True)))
        rows = [
            (position, content, to_blob(name), "present", *_size_and_time(root, name))
            for position, (content, name) in zip(positions, found, strict=True)
        ]
        missing = sorted(set(range(len(self))) - set(positions))
        lost: list[tuple[Status, int]] = [
            ("broken" if displayed_name(self.names[i]) in skipped else "missing", i)
            for i in missing
        ]
        changes = self._changes(found, positions, lost)
        old = {row[0]: row for row in self._database.rows("SELECT * FROM image")}
        gone = [(*old[i][:3], status, *old[i][4:]) for status, i in lost]
        changed = [row for row in [*rows, *gone] if old.get(row[0]) != row]
        with self._database.transaction(changed) as db:
            db.executemany("REPLACE INTO image VALUES (?, ?, ?, ?, ?, ?)", rows)
            db.executemany("UPDATE image SET status = ? WHERE position = ?", lost)
        self.load()
        return changes

    def _changes(
        self,
        found: list[tuple[str, str]],
        positions: list[int],
        lost: Iterable[tuple[Status, int]],
    ) -> Changes:
        """Compare the found images with the known ones."""
        old = [(p, name) for p, (_, name) in zip(positions, found, strict=True) if p < len(self)]
        newly = [(status, i) for status, i in lost if self.status[i] != status]
        return Changes(
            np.array(positions, dtype=np.intp),
            added=tuple(p for p in positions if p >= len(self)),
            renamed=tuple(p for p, name in old if self.names[p] != name),
            returned=tuple(p for p, _ in old if self.status[p] != "present"),
            missing=tuple(i for status, i in newly if status == "missing"),
            broken=tuple(i for status, i in newly if status == "broken"),
        )


def _match(found: list[tuple[str, str]], known: list[tuple[str, str]]) -> list[int]:
    """Return a position for each (hash, name): its own, that of a renamed image, or a new one.

    Exact matches go first, so that of two copies only the renamed one counts
    as renamed.
    """
    by_both: Mapping[tuple[str, str], list[int]] = defaultdict(list)
    for position, key in reversed(list(enumerate(known))):
        by_both[key].append(position)
    exact = [by_both[key].pop() if by_both[key] else None for key in found]
    by_hash: Mapping[str, list[int]] = defaultdict(list)
    for position in sorted((p for left in by_both.values() for p in left), reverse=True):
        by_hash[known[position][0]].append(position)
    new = itertools.count(len(known))
    return [
        position
        if position is not None
        else (by_hash[content].pop() if by_hash[content] else next(new))
        for (content, _), position in zip(found, exact, strict=True)
    ]


def _size_and_time(root: Path | None, name: str) -> tuple[int | None, int | None]:
    """Return size and modification time of a file; None, None if there is no such file."""
    if root is None:
        return None, None
    try:
        stat = (root / name).stat()
    except (OSError, ValueError):  # missing, or not a valid file name
        return None, None
    return stat.st_size, stat.st_mtime_ns


def to_blob(text: str) -> bytes:
    """Encode any string as bytes; a file name may not be valid UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def to_text(blob: bytes) -> str:
    """Decode the result of `to_blob`."""
    try:
        return blob.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise SessionError(
            f"The name {blob!r:.60} in the session must be UTF-8 ({error.reason}); the session was "
            "changed by another program. Ask for an unchanged copy."
        ) from error
