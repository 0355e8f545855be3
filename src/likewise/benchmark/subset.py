"""Some images of a collection, as a collection."""

import numpy as np
import numpy.typing as npt

from likewise.images.collection import ImageCollection, Pixels


class Subset:
    """The images of `collection` at `indexes`, in that order."""

    def __init__(self, collection: ImageCollection, indexes: npt.NDArray[np.intp]) -> None:
        self.collection, self.indexes = collection, indexes

    def __len__(self) -> int:
        return len(self.indexes)

    def pixels(self, index: int) -> Pixels:
        """Return one image as RGB (h, w, 3)."""
        return self.collection.pixels(int(self.indexes[index]))

    def identity(self, index: int) -> str:
        """Return the content hash."""
        return self.collection.identity(int(self.indexes[index]))

    def name(self, index: int) -> str:
        """Return what a person calls the image."""
        return self.collection.name(int(self.indexes[index]))
