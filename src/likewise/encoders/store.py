"""Where vectors are kept between runs: one shelf an encoder, shared by all orientations."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from likewise.encoders.encoder import Encoder, Floats
from likewise.encoders.rounding import rounded, storage_of
from likewise.encoders.shelf import Shelf


class EmbeddingStore:
    """A folder of vectors, keyed by encoder and by the content of each picture.

    Deleting it only costs the time to compute the vectors again.

    Parameters
    ----------
    folder : str or Path
        It is made when the first vector is kept.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def shelf(self, encoder: Encoder) -> Shelf:
        """Return the kept vectors of one encoder.

        Raises
        ------
        EncoderError
            If vectors of other widths are kept under the encoder's name.
        """
        return Shelf(self.folder, encoder.name, encoder.facets, storage_of(encoder))


class Scratch:
    """Vectors in memory only, rounded as a store would round them.

    Parameters
    ----------
    encoder : Encoder
    n_images : int
        At most so many will be added.
    """

    def __init__(self, encoder: Encoder, n_images: int) -> None:
        self._dtype = storage_of(encoder)
        self._vectors = np.empty((n_images, sum(encoder.facets.values())), np.float32)
        self._rows: dict[str, int] = {}

    def __contains__(self, identity: str) -> bool:
        return identity in self._rows

    def add(self, identities: Sequence[str], vectors: Floats) -> None:
        """Keep one row of all facets for each identity."""
        start = len(self._rows)
        self._rows |= {name: start + i for i, name in enumerate(identities)}
        self._vectors[start : len(self._rows)] = rounded(vectors, self._dtype)

    def read(self, identities: Sequence[str]) -> Floats:
        """Return the rows of `identities` in their order."""
        rows = [self._rows[name] for name in identities]
        is_in_order = rows == list(range(len(self._vectors)))
        return self._vectors if is_in_order else self._vectors[rows]


def default_cache() -> Path:
    """Return where vectors are kept without a session: ``$LIKEWISE_CACHE``, or the user's cache."""
    if chosen := os.environ.get("LIKEWISE_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "likewise"
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "likewise"
