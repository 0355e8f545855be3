"""The images of a session: a position for good, a content hash, a name, and whether it is there.

A position is never given anew: images that vanish keep theirs, so that answers
about them still hold and connect others; new ones are added at the end. Files
with equal content are copies of one image: answers are about one of them, and
all get its cluster.
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

from likewise.constraints.relation import Indexes
from likewise.images.collection import ImageCollection
from likewise.session.store import Store

Status = Literal["present", "missing", "broken"]


@dataclass(frozen=True)
class Changes:
    """What `Images.sync` found; every entry is a position in the session.

    Parameters
    ----------
    positions : array of shape (n_collection,)
        The session's position of each image of the collection.
    added, renamed, returned, missing, broken : tuple of int
        New ones; ones under a new name; ones that were gone and are back; ones
        newly gone; ones whose file is there but can no longer be read.
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
        The copy that answers are about: the first with the same content whose
        file is there. An image without copies is its own.
    positions : dict
        Content hash to the position of that copy.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.load()

    def __len__(self) -> int:
        return len(self.hashes)

    def load(self) -> None:
        """Read all from disk."""
        self.__dict__.pop("digest", None)
        rows = self._store.rows("SELECT hash, name, status FROM image ORDER BY position")
        self.hashes: list[str] = [row[0] for row in rows]
        self.names: list[str] = [to_text(row[1]) for row in rows]
        self.status: list[Status] = [row[2] for row in rows]
        order = sorted(range(len(rows)), key=[s != "present" for s in self.status].__getitem__)
        self.positions: dict[str, int] = {}
        for i in order:  # those that are there come first
            self.positions.setdefault(self.hashes[i], i)
        self.first: Indexes = np.array([self.positions[h] for h in self.hashes], dtype=np.intp)
        self._present = np.array([status == "present" for status in self.status], dtype=np.bool_)
        self._n_missing = len(rows) - int(self._present.sum())
        self._askable = np.flatnonzero(self._present & (self.first == np.arange(len(rows))))
        for array in (self.first, self._present, self._askable):
            array.flags.writeable = False  # they are handed out to many threads

    @functools.cached_property
    def digest(self) -> str:
        """Return a hash of all content hashes in order: what was made for these images fits."""
        return hashlib.sha256("\n".join(self.hashes).encode()).hexdigest()

    def is_current(self) -> bool:
        """Return whether the disk holds no more images than we know of."""
        ((last,),) = self._store.rows("SELECT max(position) FROM image")
        return (-1 if last is None else last) + 1 == len(self)

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Return which images can be looked at now, (n,)."""
        return self._present

    @property
    def n_missing(self) -> int:
        """Return how many images cannot be looked at now."""
        return self._n_missing

    @property
    def askable(self) -> Indexes:
        """Return the positions worth asking about: there, and of all copies one, (m,)."""
        return self._askable

    @property
    def known_files(self) -> dict[tuple[str, int, int], str]:
        """Return (name, size, mtime in ns) to content hash: files that need no new hashing."""
        rows = self._store.rows(
            "SELECT name, size, mtime, hash FROM image WHERE size IS NOT NULL ORDER BY position"
        )
        return {(to_text(name), size, mtime): content for name, size, mtime, content in rows}

    def sync(self, collection: ImageCollection, root: Path | None = None) -> Changes:
        """Take note of what is in `collection` now; nothing is ever dropped.

        Parameters
        ----------
        collection : ImageCollection
        root : Path, optional
            The folder its names are relative to; sizes and times are read there.
        """
        found = [(collection.identity(i), collection.name(i)) for i in range(len(collection))]
        skipped = {entry.name for entry in getattr(collection, "skipped", ())}
        positions = _match(found, list(zip(self.hashes, self.names, strict=True)))
        rows = [
            (position, content, to_blob(name), "present", *_size_and_time(root, name))
            for position, (content, name) in zip(positions, found, strict=True)
        ]
        gone = sorted(set(range(len(self))) - set(positions))
        lost: list[tuple[Status, int]] = [
            ("broken" if self.names[i] in skipped else "missing", i) for i in gone
        ]
        changes = self._changes(found, positions, lost)
        with self._store.transaction() as db:
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
        """Compare what was found with what we know."""
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
    """Return a position for each (hash, name) found: its own, a renamed one's, or a new one.

    Exact matches go first, so that of two copies the one that was renamed is
    the one that is taken for renamed.
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
    """Return size and time of a file, or nothing where there is no such file."""
    if root is None:
        return None, None
    try:
        stat = (root / name).stat()
    except (OSError, ValueError):  # gone, or no file name at all
        return None, None
    return stat.st_size, stat.st_mtime_ns


def to_blob(text: str) -> bytes:
    """Return any string as bytes; a file name need not be valid UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def to_text(blob: bytes) -> str:
    """Return what `to_blob` was given."""
    return blob.decode("utf-8", "surrogatepass")
