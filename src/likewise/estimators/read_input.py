"""Turn the X of `fit` or `predict` into data: vectors, pixels, or images that are embedded."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from likewise.embedding.cache import user_cache
from likewise.embedding.embed import embed
from likewise.embedding.embeddings import Embeddings
from likewise.embedding.matrix_file import is_vector_file, read_vectors
from likewise.embedding.user_encoders import as_encoder
from likewise.embedding.words import WORDS, add_similarities
from likewise.errors import (
    CollectionError,
    ImageError,
    InvalidParameterError,
    LikewiseWarning,
    MissingExtraError,
)
from likewise.estimators.data import Check, Data, InputSpec, VectorData
from likewise.images.as_collection import as_collection, is_image_source
from likewise.images.collection import ImageCollection, summarize_skipped
from likewise.images.resize import square
from likewise.types import Indexes, Progress, silent

_CACHE_LIMIT = 2 * 2**30  # bytes of decoded images kept in memory
_DEFAULT_ENCODER = "bundled"
_PROGRESS_BAR = "likewise.notebook.display", "progress_bar"  # imported when used


def read_input(
    X: Any, spec: InputSpec, check: Check, *, allow_download: bool = True
) -> tuple[Data, ImageCollection | None]:
    """Return `X` as data, and the images if it is not vectors."""
    if spec.accepts_vectors and is_vectors(X):
        return load_vectors(X, spec, check, allow_download=allow_download), None
    collection = load_images(X)
    if spec.image_size is not None:
        return ImageData(collection, spec.image_size), collection
    embeddings = encode_images(collection, spec.encoder, allow_download=allow_download)
    return load_vectors(embeddings, spec, check, allow_download=allow_download), collection


class ImageData:
    """Images resized to squares, decoded once and cached while they fit into memory.

    Parameters
    ----------
    collection : ImageCollection
    size : int
        Side length in pixels.
    """

    def __init__(self, collection: ImageCollection, size: int) -> None:
        if not len(collection):
            raise CollectionError("The collection has no readable image; at least 2 are needed.")
        self.collection = collection
        self.size = size
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
        if self._cache is None:
            return square(self.collection, index, self.size)
        if not self._is_cached[index]:
            self._cache[index] = square(self.collection, index, self.size)
            self._is_cached[index] = True
        return cast(npt.NDArray[np.uint8], self._cache[index])


def is_vectors(X: Any) -> bool:
    """Return whether `X` holds vectors rather than images."""
    if _is_embeddings(X) or is_vector_file(X):
        return True
    if is_image_source(X):
        return False
    if isinstance(X, Sequence):
        return len(X) > 0 and _rows_are_flat(X)
    return getattr(X, "ndim", 2) not in (3, 4)


def load_vectors(
    X: Any, spec: InputSpec, check: Check, *, allow_download: bool = True
) -> VectorData:
    """Return embeddings, a matrix, or a file with one as data."""
    if is_vector_file(X):
        X = read_vectors(X)
    if not _is_embeddings(X):
        if spec.words:
            raise InvalidParameterError(
                "words need images, or the result of `embed`, got vectors alone; leave words out."
            )
        return VectorData(check(X))
    embeddings = cast(Embeddings, X)
    if spec.words and WORDS not in embeddings.blocks:
        encoder = as_encoder(spec.encoder, allow_download=allow_download)
        embeddings = add_similarities(embeddings, encoder, spec.words)
    return VectorData(check(embeddings.matrix()), embeddings.slices, embeddings.local_features)


def load_images(X: Any) -> ImageCollection:
    """Return `X` as a collection of images; warn about files that cannot be read."""
    collection = as_collection(X)
    skipped = () if collection is X else getattr(collection, "skipped", ())
    if skipped:
        warnings.warn(
            f"{len(skipped):,} images cannot be read and are skipped; labels_ has no entry for "
            "them (image_names_ holds the image of each label):\n"
            f"{summarize_skipped(skipped)}",
            LikewiseWarning,
            stacklevel=7,
        )
    return collection


def encode_images(
    collection: ImageCollection, encoder: Any = None, *, allow_download: bool = True
) -> Embeddings:
    """Return the embeddings of a collection, all of which must be readable.

    Embeddings of an encoder given by name are cached on disk, so that a second run embeds
    only new images. Encoder objects are not cached: two of them may have the same name.

    Raises
    ------
    ImageError
        If an image became unreadable since the collection was made.
    """
    encoder = _DEFAULT_ENCODER if encoder is None else encoder
    made = as_encoder(encoder, allow_download=allow_download)
    cache = user_cache() if isinstance(encoder, str) else None
    embeddings = embed(collection, made, cache, _progress())
    if embeddings.skipped:
        names = ", ".join(skipped.name for skipped in embeddings.skipped[:5])
        raise ImageError(
            f"{len(embeddings.skipped)} images can no longer be read: {names}. "
            "Read the folder again to skip them."
        )
    return embeddings


def _progress() -> Progress:
    """Return a progress bar in a notebook that can show one, else nothing."""
    if "ipykernel" not in sys.modules:
        return silent
    module, name = _PROGRESS_BAR
    try:
        bar: Progress = getattr(import_module(module), name)("Embedding images")
    except MissingExtraError:
        return silent
    return bar


def _is_embeddings(X: Any) -> bool:
    return hasattr(X, "matrix") and hasattr(X, "slices")


def _rows_are_flat(rows: Sequence[Any]) -> bool:
    try:
        return np.asarray(rows).ndim not in (3, 4)
    except ValueError as error:
        lengths = sorted({np.size(row) for row in rows})
        raise InvalidParameterError(
            "All vectors must have the same length, got rows with different lengths "
            f"({', '.join(map(str, lengths[:4]))}, …)."
        ) from error
