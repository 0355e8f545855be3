"""The embedding cache: vectors by encoder name and content hash, on disk or in memory."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from likewise.embedding.embeddings import (
    Bytes,
    Encoder,
    LocalFeatures,
    grid_widths,
    patch_grids,
    storage_dtype,
)
from likewise.embedding.vector_file import Rows, VectorFile, to_storage
from likewise.errors import EncoderError
from likewise.operating_system import default_cache_folder
from likewise.types import Floats, Indexes


class EmbeddingCache:
    """A folder of vectors, keyed by encoder and by the content hash of each image.

    Deleting it only costs the time to compute the vectors again.

    Parameters
    ----------
    folder : str or Path
        Created when the first vector is added.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder: Path = Path(folder)

    def vectors(self, encoder: Encoder) -> VectorFile:
        """Return the cached vectors of one encoder.

        Raises
        ------
        EncoderError
            If the cached vectors have other widths.
        """
        return VectorFile(self.folder, encoder.name, encoder.blocks, storage_dtype(encoder))

    def local_features(self, encoder: Encoder) -> VectorFile:
        """Return the cached patch vectors of one encoder, stored in files next to its vectors."""
        widths = grid_widths(patch_grids(encoder))
        return VectorFile(self.folder, f"{encoder.name}-places", widths, "uint8")


class MemoryVectors:
    """Vectors in memory, rounded exactly as the cache on disk would round them.

    Parameters
    ----------
    width : int
    dtype : {"float16", "float32", "uint8"}
        Type in which the cache would store them.
    n_images : int
        Upper bound of the number of rows.
    """

    def __init__(self, width: int, dtype: str, n_images: int) -> None:
        self._dtype = dtype
        self._vectors: Rows = np.empty((n_images, width), dtype if dtype == "uint8" else np.float32)
        self._rows: dict[str, int] = {}

    def __contains__(self, identity: str) -> bool:
        return identity in self._rows

    def forget(self, identities: Sequence[str]) -> None:
        """Nothing in memory can be damaged."""

    def add(self, identities: Sequence[str], vectors: Rows) -> None:
        """Add one row for each identity."""
        start = len(self._rows)
        self._rows |= {name: start + i for i, name in enumerate(identities)}
        self._vectors[start : len(self._rows)] = to_storage(vectors, self._dtype)

    def read(self, identities: Sequence[str]) -> Floats:
        """Return the rows of `identities` in their order."""
        stored, rows = self.lookup(identities)
        is_in_order = np.array_equal(rows, np.arange(len(stored)))
        vectors: Floats = np.asarray(stored if is_in_order else stored[rows], np.float32)
        return vectors

    def lookup(self, identities: Sequence[str]) -> tuple[Rows, Indexes]:
        """Return all rows, and the row numbers of `identities`."""
        rows = np.fromiter((self._rows[name] for name in identities), np.intp, len(identities))
        return self._vectors, rows


class EncoderCache:
    """Vectors and local features of one encoder, by image content.

    Parameters
    ----------
    encoder : Encoder
    cache : EmbeddingCache, optional
        None keeps everything in memory.
    n_images : int
        Upper bound of the number of images added.
    """

    def __init__(self, encoder: Encoder, cache: EmbeddingCache | None, n_images: int) -> None:
        self._encoder, self._grids = encoder, patch_grids(encoder)
        self.vectors: VectorFile | MemoryVectors
        self._local: VectorFile | MemoryVectors | None = None
        if cache is None:
            width, dtype = sum(encoder.blocks.values()), storage_dtype(encoder)
            self.vectors = MemoryVectors(width, dtype, n_images)
            if self._grids:
                width = sum(grid_widths(self._grids).values())
                self._local = MemoryVectors(width, "uint8", n_images)
        else:
            self.vectors = cache.vectors(encoder)
            if self._grids:
                self._local = cache.local_features(encoder)

    def __contains__(self, identity: str) -> bool:
        """Return whether vectors and, if there are any, local features are cached."""
        has_local = self._local is None or identity in self._local
        return has_local and identity in self.vectors

    def add(self, identities: Sequence[str], encoded: Mapping[str, Floats | Bytes]) -> None:
        """Add the output of the encoder for some images."""
        n_images = len(identities)
        vectors = _concatenated(encoded, self._encoder, self._encoder.blocks, n_images)
        if not np.isfinite(vectors).all():
            raise EncoderError(
                f"The encoder {self._encoder.name!r} returned NaN or infinite values; "
                "check its weights and the scale of its input."
            )
        if self._local is not None:
            widths = grid_widths(self._grids)
            local = _concatenated(encoded, self._encoder, widths, n_images, "uint8")
            self._local.add(identities, local)
        self.vectors.add(identities, vectors)

    def local_features(self, identities: Sequence[str]) -> LocalFeatures | None:
        """Return the local features of images; None if they are missing for any of them.

        An image can have vectors from an earlier release without local features, and be
        unreadable now.
        """
        if self._local is None or not all(name in self._local for name in identities):
            return None
        rows, images = self._local.lookup(identities)
        assert rows.dtype == np.uint8
        return LocalFeatures(rows.view(np.uint8), self._grids, images)


def _concatenated(
    encoded: Mapping[str, Floats | Bytes],
    encoder: Encoder,
    widths: Mapping[str, int],
    n_images: int,
    dtype: str = "float32",
) -> Rows:
    """Return the named arrays side by side, after checking their shapes."""
    for name, width in widths.items():
        shape = np.shape(encoded[name]) if name in encoded else None
        if shape != (n_images, width):
            raise EncoderError(
                f"The encoder {encoder.name!r} must return an array of shape ({n_images}, {width})"
                f" for the feature block {name!r} of {n_images} images, got {shape}."
            )
    rows: Rows = np.concatenate([encoded[name] for name in widths], axis=1)
    return rows.astype(dtype, copy=False)


def user_cache() -> EmbeddingCache | None:
    """Return the cache used outside of sessions; None if its folder is not writable."""
    folder = default_cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return EmbeddingCache(folder) if os.access(folder, os.W_OK) else None
