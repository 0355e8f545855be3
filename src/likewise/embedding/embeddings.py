"""The `Encoder` protocol, and `Embeddings`: vectors in feature blocks, and patch vectors."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
import numpy.typing as npt

from likewise.errors import InvalidParameterError
from likewise.operating_system import n_available_cores
from likewise.types import Floats, Indexes

if TYPE_CHECKING:
    from likewise.images.collection import Pixels, Skipped

Bytes = npt.NDArray[np.uint8]
#: Name of each patch grid -> (number of patches, vector length of a patch).
PatchGrids = Mapping[str, tuple[int, int]]
_STEPS, _ZERO = 16, 128  # quantization levels per unit; the byte that encodes 0


class Encoder(Protocol):
    """Maps images to feature blocks; deterministic, in evaluation mode.

    Optional members:

    ``prepare(pixels) -> pixels``
        Called in the decoding threads, for example to resize.
    ``size``
        Input side length in pixels; images need not be decoded at more than twice this size.
    ``storage``
        "float16" if the cache may store the vectors in half precision.
    ``patch_grids``
        Mapping of grid name to (n_patches, depth). `encode` then also returns, for each grid,
        the quantized patch vectors as uint8 of shape ``(n_images, n_patches * depth)``.
    ``similarities(vectors, words) -> array of shape (n, len(words))``
        Of images, given by their block ``last``, to words; see `TextEncoder`.
    """

    @property
    def name(self) -> str:
        """Return the cache key: network, weights and size; safe as a file name."""

    @property
    def blocks(self) -> Mapping[str, int]:
        """Return the feature blocks in order with their widths, e.g. ``{"last": 1280}``."""

    def encode(self, images: "Sequence[Pixels]") -> Mapping[str, Floats | Bytes]:
        """Return for each block an array ``(len(images), width)``."""


def patch_grids(encoder: Encoder) -> PatchGrids:
    """Return the patch grids of an encoder; empty for encoders without local features."""
    grids: PatchGrids = getattr(encoder, "patch_grids", {})
    return grids


def grid_widths(grids: PatchGrids) -> dict[str, int]:
    """Return the number of columns of each patch grid."""
    return {name: n_patches * depth for name, (n_patches, depth) in grids.items()}


def storage_dtype(encoder: Encoder) -> str:
    """Return the dtype in which the vectors of an encoder are stored."""
    dtype: str = getattr(encoder, "storage", "float32")
    return dtype


def quantize(values: Floats) -> Bytes:
    """Return values of about unit variance as bytes; the range is [-8, 8)."""
    quantized: Bytes = np.clip(np.rint(values * _STEPS) + _ZERO, 0, 255).astype(np.uint8)
    return quantized


def dequantize(values: Bytes) -> Floats:
    """Return the values that `quantize` encoded, with an error of at most 1/32."""
    floats: Floats = (values.astype(np.float32) - np.float32(_ZERO)) / np.float32(_STEPS)
    return floats


def n_threads() -> int:
    """Return ``$OMP_NUM_THREADS``, or the number of available cores."""
    chosen = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if chosen.isdigit() and int(chosen) > 0:
        return int(chosen)
    return n_available_cores()


def column_slices(widths: Mapping[str, int]) -> dict[str, slice]:
    """Return the columns of each block when all blocks are concatenated."""
    ends = list(accumulate(widths.values()))
    return {
        name: slice(end - width, end)
        for (name, width), end in zip(widths.items(), ends, strict=True)
    }


@dataclass(frozen=True)
class LocalFeatures:
    """Quantized patch vectors of each image, in one or more patch grids.

    Small objects vanish in a mean over the image; patch vectors keep them. They are many, so
    they stay in bytes, usually in a memory-mapped file, and `read` decodes what is needed.

    Parameters
    ----------
    rows : array of shape (m, sum of n_patches * depth), uint8
        All grids concatenated; often a memory map.
    grids : mapping of str to (n_patches, depth)
        In the order of the columns.
    images : array of shape (n,)
        The row of each image.

    Examples
    --------
    >>> rows = quantize(np.ones((2, 6), "f4"))
    >>> local = LocalFeatures(rows, {"parts": (3, 2)}, np.array([1, 0]))
    >>> local.read("parts", slice(0, 1)).tolist()
    [[[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]]
    """

    rows: Bytes
    grids: PatchGrids
    images: Indexes

    def __len__(self) -> int:
        return len(self.images)

    def take(self, images: Indexes) -> "LocalFeatures":
        """Return a subset of the images, in that order."""
        return LocalFeatures(self.rows, self.grids, self.images[images])

    def read(self, grid: str, images: slice | Indexes) -> Floats:
        """Return the patch vectors of one grid, ``(n_images, n_patches, depth)``."""
        columns = column_slices(grid_widths(self.grids))[grid]
        values = dequantize(self.rows[self.images[images], columns])
        return values.reshape(-1, *self.grids[grid])


@dataclass(frozen=True)
class Embeddings:
    """One row per image in each feature block.

    Parameters
    ----------
    blocks : mapping of str to array of shape (n, d)
        In order; all with the same number of rows.
    skipped : sequence of Skipped
        Images that could not be read; they have no row.
    positions : array of shape (n,), optional
        The position of each row in the collection; None if every image has a row.
    local_features : LocalFeatures, optional
        Patch vectors, if the encoder computes them.

    Examples
    --------
    >>> both = Embeddings({"last": np.ones((3, 4), "f4"), "stage1": np.zeros((3, 2), "f4")})
    >>> both.matrix().shape, both.slices["stage1"]
    ((3, 6), slice(4, 6, None))
    """

    blocks: Mapping[str, Floats]
    skipped: "Sequence[Skipped]" = ()
    positions: Indexes | None = None
    local_features: LocalFeatures | None = None
    _matrix: Floats | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        counts = {len(vectors) for vectors in self.blocks.values()}
        if len(counts) != 1:
            raise InvalidParameterError(
                "All feature blocks must have the same number of rows, one per image; "
                f"got {sorted(counts)} rows."
            )

    @classmethod
    def from_matrix(
        cls,
        matrix: Floats,
        widths: Mapping[str, int],
        skipped: "Sequence[Skipped]" = (),
        positions: Indexes | None = None,
        local_features: LocalFeatures | None = None,
    ) -> Self:
        """Return the columns of `matrix` as feature blocks, without a copy."""
        blocks = {name: matrix[:, columns] for name, columns in column_slices(widths).items()}
        return cls(blocks, skipped, positions, local_features, matrix)

    def take(self, rows: Indexes) -> Self:
        """Return a subset of the images, in that order."""
        widths = {name: vectors.shape[1] for name, vectors in self.blocks.items()}
        local = None if self.local_features is None else self.local_features.take(rows)
        return self.from_matrix(self.matrix()[rows], widths, local_features=local)

    def __len__(self) -> int:
        return len(next(iter(self.blocks.values())))

    @property
    def slices(self) -> dict[str, slice]:
        """Return the columns of each block in `matrix`."""
        return column_slices({name: vectors.shape[1] for name, vectors in self.blocks.items()})

    def matrix(self) -> Floats:
        """Return all blocks concatenated, ``(n, sum of widths)``; do not write to it."""
        if self._matrix is not None:
            return self._matrix
        blocks = list(self.blocks.values())
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)
