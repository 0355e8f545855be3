"""Where vectors are kept between runs: one shelf an encoder, shared by all orientations."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from likewise.encoders.encoder import Encoder, Floats
from likewise.encoders.places import grids_of, widths
from likewise.encoders.rounding import rounded, storage_of
from likewise.encoders.row_file import Rows
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

    def places(self, encoder: Encoder) -> Shelf:
        """Return the kept places of one encoder, which lie beside its vectors."""
        return Shelf(self.folder, f"{encoder.name}-places", widths(grids_of(encoder)), "uint8")


class Scratch:
    """Vectors in memory only, rounded as a store would round them.

    Parameters
    ----------
    width : int
        Numbers a row.
    dtype : {"float16", "float32", "uint8"}
        How a store would keep them.
    n_images : int
        At most so many will be added.
    """

    def __init__(self, width: int, dtype: str, n_images: int) -> None:
        self._dtype = dtype
        self._vectors: Rows = np.empty((n_images, width), dtype if dtype == "uint8" else np.float32)
        self._rows: dict[str, int] = {}

    def __contains__(self, identity: str) -> bool:
        return identity in self._rows

    def add(self, identities: Sequence[str], vectors: Rows) -> None:
        """Keep one row of all facets for each identity."""
        start = len(self._rows)
        self._rows |= {name: start + i for i, name in enumerate(identities)}
        self._vectors[start : len(self._rows)] = rounded(vectors, self._dtype)

    def read(self, identities: Sequence[str]) -> Floats:
        """Return the rows of `identities` in their order."""
        kept, rows = self.look_up(identities)
        is_in_order = np.array_equal(rows, np.arange(len(kept)))
        found: Floats = np.asarray(kept if is_in_order else kept[rows], np.float32)
        return found

    def look_up(self, identities: Sequence[str]) -> tuple[Rows, npt.NDArray[np.intp]]:
        """Return all rows, and which of them are those of `identities`."""
        rows = np.fromiter((self._rows[name] for name in identities), np.intp, len(identities))
        return self._vectors, rows


def default_cache() -> Path:
    """Return where vectors are kept without a session: ``$LIKEWISE_CACHE``, or the user's cache."""
    if chosen := os.environ.get("LIKEWISE_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "likewise"
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "likewise"


def users_store() -> EmbeddingStore | None:
    """Return where vectors are kept without a session, or None if nothing can be written there."""
    place = default_cache()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return EmbeddingStore(place) if os.access(place, os.W_OK) else None
