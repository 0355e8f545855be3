"""A collection that is nothing but names and contents: a session never looks at pixels."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from likewise.images.collection import Pixels
from likewise.images.unreadable import Skipped


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
