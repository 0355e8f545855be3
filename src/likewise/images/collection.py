"""A picture collection: an order, an identity for each image, pixels on demand."""

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]  # (h, w, 3), RGB


@runtime_checkable
class ImageCollection(Protocol):
    """What every source of pictures offers: a folder, a list of paths, an array."""

    def __len__(self) -> int:
        """Return how many images there are."""

    def pixels(self, index: int) -> Pixels:
        """Return one image upright, as RGB of its own size (h, w, 3).

        Raises
        ------
        ImageError
            If the picture cannot be read (any more).
        """

    def identity(self, index: int) -> str:
        """Return the content hash: 64 hexadecimal digits, stable on disk."""

    def name(self, index: int) -> str:
        """Return what a person calls the image: its path below the folder."""
