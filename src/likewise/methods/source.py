"""What a method learns from, vectors or pictures, behind one door."""

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from likewise.embedding.cache import user_cache
from likewise.embedding.embed import embed
from likewise.embedding.embeddings import Embeddings, LocalFeatures
from likewise.embedding.encoder import Encoder
from likewise.embedding.registry import make_encoder
from likewise.errors import (
    CollectionError,
    ImageError,
    InvalidParameterError,
    LikewiseError,
    LikewiseWarning,
)
from likewise.images.as_collection import as_collection
from likewise.images.collection import ImageCollection
from likewise.images.resize import square
from likewise.images.unreadable import summarize_skipped

Indexes = npt.NDArray[np.intp]
_CACHE_LIMIT = 2 * 2**30  # bytes of decoded pictures kept in memory


class Source(Protocol):
    """Rows on demand; vectors know which columns belong to which facet."""

    slices: Mapping[str, slice]
    n_columns: int | None  # None: pictures

    def __len__(self) -> int:
        """Return the number of images."""

    def batch(self, indexes: Indexes) -> Tensor:
        """Return vectors ``(b, d)`` float32 or pictures ``(b, 3, s, s)`` uint8."""


class VectorSource:
    """Vectors in memory or memory-mapped, and places where there are any."""

    def __init__(
        self,
        matrix: npt.NDArray[Any],
        slices: Mapping[str, slice] | None = None,
        places: LocalFeatures | None = None,
    ) -> None:
        self.matrix, self.places = matrix, places
        self.n_columns: int | None = matrix.shape[1]
        self.slices: Mapping[str, slice] = dict(slices or {"all": slice(0, matrix.shape[1])})

    def __len__(self) -> int:
        return len(self.matrix)

    def batch(self, indexes: Indexes) -> Tensor:
        """Return the vectors of `indexes`, ``(b, d)``."""
        return torch.from_numpy(np.ascontiguousarray(self.matrix[indexes], dtype=np.float32))

    def facets(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of each facet, not copied."""
        return {name: self.matrix[:, columns] for name, columns in self.slices.items()}


class PictureSource:
    """Pictures resized to squares, decoded once and kept while they fit into memory."""

    def __init__(self, collection: ImageCollection, size: int) -> None:
        self.collection, self.size = collection, size
        self.slices: Mapping[str, slice] = {}
        self.n_columns: int | None = None
        fits = len(collection) * size * size * 3 <= _CACHE_LIMIT
        shape = (len(collection), size, size, 3)
        self._kept = np.zeros(shape, dtype=np.uint8) if fits else None
        self._is_kept = np.zeros(len(collection), dtype=bool)

    def __len__(self) -> int:
        return len(self.collection)

    def batch(self, indexes: Indexes) -> Tensor:
        """Return the pictures of `indexes`, ``(b, 3, s, s)`` uint8."""
        squares = np.stack([self._square(int(i)) for i in indexes])
        return torch.from_numpy(squares).permute(0, 3, 1, 2)

    def _square(self, index: int) -> npt.NDArray[np.uint8]:
        if self._kept is None:
            return square(self.collection, index, self.size)
        if not self._is_kept[index]:
            self._kept[index] = square(self.collection, index, self.size)
            self._is_kept[index] = True
        kept: npt.NDArray[np.uint8] = self._kept[index]
        return kept


class AbsentSource:
    """The shape of the images a loaded model was trained on; the images are elsewhere."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._n_images = int(facts["n_images"])
        self.n_columns: int | None = facts["n_columns"]
        self.slices: Mapping[str, slice] = {
            name: slice(start, stop) for name, (start, stop) in facts["slices"].items()
        }

    def __len__(self) -> int:
        return self._n_images

    def batch(self, indexes: Indexes) -> Tensor:
        """Refuse: there is nothing to read."""
        raise LikewiseError(
            "This model was loaded without its images, so it can predict but not train; "
            "call fit with the images and checkpoint= to go on."
        )


def source_facts(source: Source) -> dict[str, Any]:
    """Return what a checkpoint must know of its images, with a fingerprint of their content."""
    facts = {
        "n_images": len(source),
        "n_columns": source.n_columns,
        "slices": {name: [part.start, part.stop] for name, part in source.slices.items()},
    }
    if isinstance(source, AbsentSource):
        return facts
    some = np.linspace(0, len(source) - 1, num=min(64, len(source))).astype(np.intp)
    rows = source.batch(some).contiguous().numpy()
    return {**facts, "fingerprint": hashlib.sha256(rows.tobytes()).hexdigest()[:16]}


def is_vectors(X: Any) -> bool:
    """Return whether `X` holds ready vectors rather than pictures."""
    if isinstance(X, Embeddings):
        return True
    if isinstance(X, (str, Path, ImageCollection)):
        return False
    if isinstance(X, Sequence) and len(X) and isinstance(X[0], (str, Path)):
        return False
    if isinstance(X, Sequence):
        return _rows_are_flat(X)
    return getattr(X, "ndim", 2) not in (3, 4)


def _rows_are_flat(rows: Sequence[Any]) -> bool:
    try:
        return np.asarray(rows).ndim not in (3, 4)
    except ValueError as error:
        lengths = sorted({np.size(row) for row in rows})
        raise InvalidParameterError(
            f"The rows given have different lengths ({', '.join(map(str, lengths[:4]))}, …); "
            "give one vector of equal length for each image."
        ) from error


def look_at(X: Any) -> ImageCollection:
    """Return `X` as pictures; warn of those left out, for which no label will stand."""
    collection = as_collection(X)
    left_out = () if collection is X else getattr(collection, "skipped", ())
    if left_out:
        warnings.warn(
            f"{len(left_out):,} of the pictures given cannot be read and are left out, and no row "
            "stands for them (after `fit`, `image_names_` says which picture each label is for):\n"
            f"{summarize_skipped(left_out)}",
            LikewiseWarning,
            stacklevel=5,
        )
    return collection


def encode_pictures(collection: ImageCollection, encoder: str | Encoder) -> Embeddings:
    """Return the vectors of pictures, all of which must be readable.

    Those of an encoder that has a name are kept in the user's cache: a second criterion, or a
    second run, waits for new pictures only. Modules of one's own may share a name.

    Raises
    ------
    ImageError
        If a picture broke since the collection was read.
    """
    if isinstance(encoder, str):
        embeddings = embed(collection, make_encoder(encoder), user_cache())
    else:
        embeddings = embed(collection, encoder)
    if embeddings.skipped:
        names = ", ".join(skipped.name for skipped in embeddings.skipped[:5])
        raise ImageError(
            f"{len(embeddings.skipped)} pictures cannot be read any more: {names}; "
            "read the folder again, broken pictures are then left out."
        )
    return embeddings


def read_pictures(collection: ImageCollection, size: int) -> PictureSource:
    """Return a source of pictures for end-to-end training."""
    source = PictureSource(collection, size)
    if not len(source):
        raise CollectionError("There is no picture to learn from; give at least two.")
    return source
