"""The protocol of an encoder: images in, one vector per feature block out."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from likewise.images.collection import Pixels
from likewise.types import Floats

Bytes = npt.NDArray[np.uint8]
#: Name of each patch grid -> (number of patches, vector length of a patch).
PatchGrids = Mapping[str, tuple[int, int]]


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
    """

    @property
    def name(self) -> str:
        """Return the cache key: network, weights and size; safe as a file name."""

    @property
    def blocks(self) -> Mapping[str, int]:
        """Return the feature blocks in order with their widths, e.g. ``{"last": 1280}``."""

    def encode(self, images: Sequence[Pixels]) -> Mapping[str, Floats | Bytes]:
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
