"""One door for all pictures: a folder, paths, an array, or a collection as it is."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from likewise.errors import CollectionError
from likewise.images.arrays import ArrayCollection
from likewise.images.collection import ImageCollection
from likewise.images.folder import read_folder
from likewise.images.paths import read_paths
from likewise.progress import Progress, silent


def as_collection(X: Any, progress: Progress = silent) -> ImageCollection:
    """Return `X` as a collection of pictures.

    Parameters
    ----------
    X : path, sequence of paths, array-like or ImageCollection
        A folder; picture files; pictures of shape (n, h, w, 3) or (n, h, w);
        or a collection, which is returned as it is.
    progress : Progress
        Told how many files were looked at.

    Raises
    ------
    CollectionError
        If it is none of these, or holds no picture that can be read.
    """
    if isinstance(X, ImageCollection):
        return X
    if isinstance(X, (str, PathLike)):
        return read_folder(X, progress)
    if not isinstance(X, Sequence) and not (hasattr(X, "__array__") and np.ndim(X)):
        raise CollectionError(
            f"{type(X).__name__} is no source of pictures; "
            "give a folder, a list of paths, or an array."
        )
    if not len(X):
        raise CollectionError("No pictures were given: the list is empty; give at least one.")
    if _holds_paths(X):
        return read_paths(list(X), progress)
    return ArrayCollection(X)


def _holds_paths(X: Any) -> bool:
    if isinstance(X, Sequence):
        return isinstance(X[0], (str, PathLike))
    array = np.asarray(X)
    return array.ndim == 1 and isinstance(array[0], (str, PathLike))
