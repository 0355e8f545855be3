"""From pictures to vectors. An encoder names its facets and their widths; the rest is its own."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from likewise.images.collection import Pixels

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


class Encoder(Protocol):
    """Pictures in, one vector a facet out; deterministic, in evaluation mode.

    It may also have ``prepare(pixels) -> pixels``, called while decoding, in threads;
    ``size``, the side below which no picture need be decoded; ``storage``, "float16"
    if its vectors may be kept in that; and ``places``, a mapping of grids to (places, depth):
    then `encode` returns for each grid the bytes ``(len(pictures), places * depth)`` as well.
    """

    @property
    def name(self) -> str:
        """Return the key on disk: network, weights, size; safe as a file name."""

    @property
    def facets(self) -> Mapping[str, int]:
        """Return the facets in order with their widths, e.g. ``{"last": 1280, "block3": 80}``."""

    def encode(self, pictures: Sequence[Pixels]) -> Mapping[str, Floats | Bytes]:
        """Return for each facet an array ``(len(pictures), width)``."""
