"""What an estimator is fitted to: vectors, or images read from disk in batches."""

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from likewise.errors import (
    CollectionError,
    ImageError,
    InvalidParameterError,
    LikewiseError,
    LikewiseWarning,
)
from likewise.types import Indexes

if TYPE_CHECKING:
    from likewise.embedding.embeddings import Embeddings, LocalFeatures
    from likewise.images.collection import ImageCollection

_CACHE_LIMIT = 2 * 2**30  # bytes of decoded images kept in memory
_DEFAULT_ENCODER = "bundled"
Check = Callable[[Any], npt.NDArray[np.float32]]  # from any matrix to one that can be used


@dataclass(frozen=True)
class InputSpec:
    """What an estimator makes of the input given to it.

    Parameters
    ----------
    encoder : str or Encoder, optional
        Turns images into vectors; the bundled one if None.
    image_size : int, optional
        Side length in pixels of the images that the estimator trains on itself; None if
        images are embedded by `encoder`.
    accepts_vectors : bool
        Whether the estimator can be fitted to vectors.
    """

    encoder: Any = None
    image_size: int | None = None
    accepts_vectors: bool = True

    def read(
        self, X: Any, check: "Check", *, allow_download: bool = True
    ) -> tuple["Data", list[str] | None]:
        """Return `X` as data, and the names of the images if it is not vectors."""
        if self.accepts_vectors and is_vectors(X):
            return load_vectors(X, check), None
        collection = load_images(X)
        names = [collection.name(i) for i in range(len(collection))]
        if self.image_size is not None:
            return ImageData(collection, self.image_size), names
        embeddings = encode_images(collection, self.encoder, allow_download=allow_download)
        return load_vectors(embeddings, check), names


class Data(Protocol):
    """A collection of images, as vectors or as pixels, read in batches.

    Attributes
    ----------
    n_columns : int or None
        Number of columns of the vectors; None if the data are images.
    slices : mapping of str to slice
        Columns of each feature block.
    """

    slices: Mapping[str, slice]
    n_columns: int | None

    def __len__(self) -> int:
        """Return the number of images."""

    def batch(self, indexes: Indexes) -> npt.NDArray[Any]:
        """Return vectors ``(b, d)`` float32, or images ``(b, s, s, 3)`` uint8."""


class VectorData:
    """Vectors in memory or memory-mapped.

    Parameters
    ----------
    matrix : array of shape (n, d)
    slices : mapping of str to slice, optional
        Columns of each feature block; one block if None.
    local_features : LocalFeatures, optional
        Features of image patches, where the encoder provides them.
    """

    def __init__(
        self,
        matrix: npt.NDArray[Any],
        slices: Mapping[str, slice] | None = None,
        local_features: "LocalFeatures | None" = None,
    ) -> None:
        self.matrix, self.local_features = matrix, local_features
        self.n_columns: int | None = matrix.shape[1]
        self.slices: Mapping[str, slice] = dict(slices or {"all": slice(0, matrix.shape[1])})

    def __len__(self) -> int:
        return len(self.matrix)

    def batch(self, indexes: Indexes) -> npt.NDArray[np.float32]:
        """Return the vectors of `indexes`, ``(b, d)``."""
        return np.ascontiguousarray(self.matrix[indexes], dtype=np.float32)

    def blocks(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of each feature block, as views."""
        return {name: self.matrix[:, columns] for name, columns in self.slices.items()}


class ImageData:
    """Images resized to squares, decoded once and cached while they fit into memory.

    Parameters
    ----------
    collection : ImageCollection
    size : int
        Side length in pixels.
    """

    def __init__(self, collection: "ImageCollection", size: int) -> None:
        if not len(collection):
            raise CollectionError("The collection has no readable image; at least 2 are needed.")
        self.collection, self.size = collection, size
        self.slices: Mapping[str, slice] = {}
        self.n_columns: int | None = None
        fits = len(collection) * size * size * 3 <= _CACHE_LIMIT
        shape = (len(collection), size, size, 3)
        self._cache = np.zeros(shape, dtype=np.uint8) if fits else None
        self._is_cached = np.zeros(len(collection), dtype=bool)

    def __len__(self) -> int:
        return len(self.collection)

    def batch(self, indexes: Indexes) -> npt.NDArray[np.uint8]:
        """Return the images of `indexes`, ``(b, s, s, 3)``."""
        return np.stack([self._square(int(i)) for i in indexes])

    def _square(self, index: int) -> npt.NDArray[np.uint8]:
        from likewise.images.resize import square

        if self._cache is None:
            return square(self.collection, index, self.size)
        if not self._is_cached[index]:
            self._cache[index] = square(self.collection, index, self.size)
            self._is_cached[index] = True
        return cast(npt.NDArray[np.uint8], self._cache[index])


class MissingData:
    """The shape of the data that a loaded model was trained on, without the data.

    Parameters
    ----------
    description : mapping
        As returned by `describe_data`.
    """

    def __init__(self, description: Mapping[str, Any]) -> None:
        self._n_images = int(description["n_images"])
        self.n_columns: int | None = description["n_columns"]
        self.slices: Mapping[str, slice] = {
            name: slice(start, stop) for name, (start, stop) in description["slices"].items()
        }

    def __len__(self) -> int:
        return self._n_images

    def batch(self, indexes: Indexes) -> npt.NDArray[Any]:
        """Raise: the data are not there."""
        raise LikewiseError(
            "This model was loaded without its images: it can predict, but not train. "
            "To continue training, call fit with the images and checkpoint=."
        )


def check_same_kind(data: Data, fitted: Data) -> None:
    """Raise unless both are vectors or both are images."""
    if (data.n_columns is None) != (fitted.n_columns is None):
        kinds = ("images", "vectors") if data.n_columns is None else ("vectors", "images")
        raise InvalidParameterError(
            f"The model was fitted to {kinds[1]}, got {kinds[0]}; give {kinds[1]}"
            + (", or set encoder= to embed images." if kinds[0] == "images" else ".")
        )


def describe_data(data: Data) -> dict[str, Any]:
    """Return the shape of `data` and a fingerprint of its content, to compare checkpoints by."""
    description = {
        "n_images": len(data),
        "n_columns": data.n_columns,
        "slices": {name: [part.start, part.stop] for name, part in data.slices.items()},
    }
    if isinstance(data, MissingData):
        return description
    return {**description, "fingerprint": fingerprint(data)}


def fingerprint(data: Data) -> str:
    """Return a hash of at most 64 evenly spaced images or vectors."""
    sample = np.linspace(0, len(data) - 1, num=min(64, len(data))).astype(np.intp)
    rows = data.batch(sample)
    if data.n_columns is None:
        rows = rows.transpose(0, 3, 1, 2)  # channels first, as in checkpoints of release 0.1
    return hashlib.sha256(rows.tobytes()).hexdigest()[:16]


def is_vectors(X: Any) -> bool:
    """Return whether `X` holds vectors rather than images."""
    if _is_embeddings(X):
        return True
    if isinstance(X, (str, Path)) or _is_collection(X):
        return False
    if isinstance(X, Sequence) and len(X) and isinstance(X[0], (str, Path)):
        return False
    if isinstance(X, Sequence):
        return _rows_are_flat(X)
    return getattr(X, "ndim", 2) not in (3, 4)


def load_vectors(X: Any, check: Check) -> VectorData:
    """Return embeddings or a matrix as data."""
    if not _is_embeddings(X):
        return VectorData(check(X))
    embeddings = cast("Embeddings", X)
    return VectorData(check(embeddings.matrix()), embeddings.slices, embeddings.local_features)


def load_images(X: Any) -> "ImageCollection":
    """Return `X` as a collection of images; warn about files that cannot be read."""
    from likewise.images.as_collection import as_collection
    from likewise.images.collection import summarize_skipped

    collection = as_collection(X)
    skipped = () if collection is X else getattr(collection, "skipped", ())
    if skipped:
        warnings.warn(
            f"{len(skipped):,} images cannot be read and are skipped; labels_ has no entry for "
            "them (image_names_ holds the image of each label):\n"
            f"{summarize_skipped(skipped)}",
            LikewiseWarning,
            stacklevel=6,
        )
    return collection


def encode_images(
    collection: "ImageCollection", encoder: Any = None, *, allow_download: bool = True
) -> "Embeddings":
    """Return the embeddings of a collection, all of which must be readable.

    Embeddings of an encoder given by name are cached on disk, so that a second run embeds
    only new images. Encoder objects are not cached: two of them may have the same name.

    Raises
    ------
    ImageError
        If an image became unreadable since the collection was made.
    """
    from likewise.embedding.cache import user_cache
    from likewise.embedding.embed import embed
    from likewise.embedding.registry import make_encoder

    encoder = _DEFAULT_ENCODER if encoder is None else encoder
    if isinstance(encoder, str):
        embeddings = embed(
            collection, make_encoder(encoder, allow_download=allow_download), user_cache()
        )
    else:
        embeddings = embed(collection, encoder)
    if embeddings.skipped:
        names = ", ".join(skipped.name for skipped in embeddings.skipped[:5])
        raise ImageError(
            f"{len(embeddings.skipped)} images can no longer be read: {names}. "
            "Read the folder again to skip them."
        )
    return embeddings


def _is_embeddings(X: Any) -> bool:
    return hasattr(X, "matrix") and hasattr(X, "slices")


def _is_collection(X: Any) -> bool:
    from likewise.images.collection import ImageCollection

    return isinstance(X, ImageCollection)


def _rows_are_flat(rows: Sequence[Any]) -> bool:
    try:
        return np.asarray(rows).ndim not in (3, 4)
    except ValueError as error:
        lengths = sorted({np.size(row) for row in rows})
        raise InvalidParameterError(
            "All vectors must have the same length, got rows with different lengths "
            f"({', '.join(map(str, lengths[:4]))}, …)."
        ) from error
