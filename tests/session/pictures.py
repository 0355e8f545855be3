"""A collection of names and contents only: a session does not read pixels."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from likewise.images.collection import Pixels, Skipped
from likewise.session import Session


@dataclass(frozen=True)
class Pictures:
    """Names, and the content of each; equal contents are copies."""

    names: Sequence[str]
    contents: Sequence[str]
    skipped: Sequence[Skipped] = ()

    def __len__(self) -> int:
        return len(self.names)

    def pixels(self, index: int) -> Pixels:
        return np.zeros((1, 1, 3), dtype=np.uint8)

    def identity(self, index: int) -> str:
        return content_hash(self.contents[index])

    def name(self, index: int) -> str:
        return self.names[index]


def content_hash(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def pictures(n: int) -> Pictures:
    """Return `n` pictures that all differ."""
    return Pictures([f"{i}.jpg" for i in range(n)], [str(i) for i in range(n)])


def restore_last(session: Session, criterion: str = "season") -> None:
    """Retract the newest active retraction of an entry that is not itself a retraction."""
    entries = {entry.id: entry for entry, _ in session.entries(criterion)}
    active = (entry for entry, is_active in session.entries(criterion)[::-1] if is_active)
    session.retract(
        next(e.id for e in active if e.retracts and entries[e.retracts].retracts is None)
    )
