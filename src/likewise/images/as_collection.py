"""Convert a folder, a list of paths or an array to an image collection."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from likewise.errors import CollectionError
from likewise.images.arrays import ArrayCollection
from likewise.images.collection import ImageCollection
from likewise.images.files import read_folder, read_paths
from likewise.progress import Progress, silent


def as_collection(X: Any, progress: Progress = silent) -> ImageCollection:
    """Return `X` as an image collection.

    Parameters
    ----------
    X : path, sequence of paths, array-like or ImageCollection
        A folder; image files; images of shape (n, h, w, 3) or (n, h, w); or a collection,
        which is returned unchanged.
    progress : Progress
        Called with the number of validated files.

    Raises
    ------
    CollectionError
        If `X` is none of these, or contains no readable image.
    """
    if isinstance(X, ImageCollection):
        return X
    if isinstance(X, (str, PathLike)):
        return read_folder(X, progress)
    if not isinstance(X, Sequence) and not (hasattr(X, "__array__") and np.ndim(X)):
        raise CollectionError(
            f"Images must be a folder, a list of paths or an array, got {type(X).__name__}."
        )
    if not len(X):
        raise CollectionError("The list of images is empty; give at least one image.")
    if _contains_paths(X):
        return read_paths(list(X), progress)
    return ArrayCollection(X)


def _contains_paths(X: Any) -> bool:
    if isinstance(X, Sequence):
        return isinstance(X[0], (str, PathLike))
    array = np.asarray(X)
    return array.ndim == 1 and isinstance(array[0], (str, PathLike))
