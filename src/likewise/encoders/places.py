"""What pictures show in each of many places: small vectors, kept in bytes, read when needed."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.encoders.columns import side_by_side
from likewise.encoders.encoder import Bytes, Encoder, Floats

Indexes = npt.NDArray[np.intp]
_STEPS, _ZERO = 16, 128  # bytes to a unit, and the byte of 0: eight units either way


def to_bytes(values: Floats) -> Bytes:
    """Return numbers of about unit spread as bytes; what is beyond eight stops there."""
    found: Bytes = np.clip(np.rint(values * _STEPS) + _ZERO, 0, 255).astype(np.uint8)
    return found


def from_bytes(values: Bytes) -> Floats:
    """Return the numbers of which `to_bytes` made bytes, to a thirty-second."""
    found: Floats = (values.astype(np.float32) - np.float32(_ZERO)) / np.float32(_STEPS)
    return found


@dataclass(frozen=True)
class Places:
    """Vectors of many places of each image, in one or more grids.

    A mean over a picture drowns what is small in it; a learner that has the places can look for
    it. They are many, so they stay where they are, on disk as a rule, and in bytes.

    Parameters
    ----------
    rows : array of shape (m, sum of places * depth) uint8
        All grids side by side; often a memory map.
    grids : mapping of str to (places, depth)
        In the order of the columns.
    images : array of shape (n,)
        The row of each image.

    Examples
    --------
    >>> two = Places(to_bytes(np.ones((2, 6), "f4")), {"parts": (3, 2)}, np.array([1, 0]))
    >>> two.read("parts", slice(0, 1)).tolist()
    [[[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]]
    """

    rows: Bytes
    grids: Mapping[str, tuple[int, int]]
    images: Indexes

    def __len__(self) -> int:
        return len(self.images)

    def take(self, images: Indexes) -> "Places":
        """Return the places of some of the images, in that order."""
        return Places(self.rows, self.grids, self.images[images])

    def read(self, grid: str, images: slice | Indexes) -> Floats:
        """Return what one grid has of some images, ``(m, places, depth)``."""
        columns = side_by_side(widths(self.grids))[grid]
        found = from_bytes(self.rows[self.images[images], columns])
        return found.reshape(-1, *self.grids[grid])


def grids_of(encoder: Encoder) -> Mapping[str, tuple[int, int]]:
    """Return places and depth of each grid of an encoder; most have none."""
    grids: Mapping[str, tuple[int, int]] = getattr(encoder, "places", {})
    return grids


def widths(grids: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    """Return how many columns each grid takes."""
    return {name: n_places * depth for name, (n_places, depth) in grids.items()}
