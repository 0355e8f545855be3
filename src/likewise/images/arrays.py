"""Images in memory, in one array."""

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.errors import CollectionError
from likewise.images.collection import Pixels, Skipped, find_duplicates

_EXPECTED = "Images must be uint8, or floats from 0 to 1, of shape (n, h, w, 3) or (n, h, w)"


class ArrayCollection:
    """Images of the same size in one array, which is not copied.

    Parameters
    ----------
    array : array-like of shape (n, h, w, 3), (n, h, w, 1) or (n, h, w)
        uint8, or floats from 0 to 1.

    Attributes
    ----------
    skipped : list of Skipped
        Always empty: an array with an invalid image is rejected.
    duplicates : list of lists of int
        Positions with the same pixels.

    Examples
    --------
    >>> collection = ArrayCollection(np.zeros((2, 8, 8), dtype=np.uint8))
    >>> collection.pixels(0).shape, collection.duplicates
    ((8, 8, 3), [[0, 1]])
    """

    def __init__(self, array: Any) -> None:
        self._array = _as_array(array)
        _check_shape(self._array.shape)
        _check_values(self._array)
        self.skipped: list[Skipped] = []

    def __len__(self) -> int:
        return len(self._array)

    def __repr__(self) -> str:
        return f"ArrayCollection({len(self)} images)"

    def pixels(self, index: int) -> Pixels:
        """Return a copy of an image as RGB (h, w, 3)."""
        image = self._array[index]
        if image.dtype.kind == "f":
            image = np.rint(image * 255).astype(np.uint8)
        if image.ndim == 2:
            image = image[:, :, None]
        return np.array(np.broadcast_to(image, (*image.shape[:2], 3)))

    def identity(self, index: int) -> str:
        """Return the SHA-256 of shape and pixels as returned by `pixels`."""
        pixels = self.pixels(index)
        return hashlib.sha256(f"{pixels.shape}".encode() + pixels.tobytes()).hexdigest()

    def name(self, index: int) -> str:
        """Return the position as text, starting at 0."""
        return str(range(len(self))[index])

    @cached_property
    def duplicates(self) -> list[list[int]]:
        """Positions with the same pixels; computed at first access."""
        return find_duplicates(self.identity(index) for index in range(len(self)))


def _as_array(array: Any) -> npt.NDArray[Any]:
    if isinstance(array, np.ndarray) and array.dtype.kind == "O":
        array = list(array)
    try:
        return np.asarray(array)
    except ValueError as error:
        shapes = [_shape(image) for image in array]
        odd = next((i for i, shape in enumerate(shapes) if shape != shapes[0]), 0)
        raise CollectionError(
            f"All images must have the same shape, but image {odd} is {shapes[odd]} and image 0 is "
            f"{shapes[0]}; resize them with likewise.images.resize.resize, or give their paths."
        ) from error


def _shape(image: Any) -> str:
    try:
        return f"of shape {np.shape(image)}"
    except ValueError:
        return "ragged"


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) == 2:
        raise CollectionError(f"{_EXPECTED}, got vectors of shape {shape}.")
    if len(shape) == 3 and shape[2] == 3:
        raise CollectionError(
            f"{_EXPECTED}, got a single image of shape {shape}; give array[None] for a "
            "collection of one image."
        )
    if len(shape) == 4 and shape[1] in (1, 3) and shape[3] not in (1, 3):
        raise CollectionError(
            f"{_EXPECTED}, got channels first, shape {shape}; give array.transpose(0, 2, 3, 1)."
        )
    if len(shape) not in (3, 4) or (len(shape) == 4 and shape[3] not in (1, 3)):
        raise CollectionError(f"{_EXPECTED}, got shape {shape}.")
    if 0 in shape:
        raise CollectionError(f"The array of shape {shape} is empty; give at least one image.")


def _check_values(array: npt.NDArray[Any]) -> None:
    if array.dtype == np.uint8:
        return
    if array.dtype.kind != "f":
        raise CollectionError(f"{_EXPECTED}, got dtype {array.dtype}.")
    low, high = array.min(), array.max()  # NaN if any value is NaN
    if np.isnan(low) or np.isinf([low, high]).any():
        bad = ~np.isfinite(array).reshape(len(array), -1).all(axis=1)
        raise CollectionError(
            f"{int(bad.sum())} images contain NaN or infinite values, the first is image "
            f"{int(bad.argmax())}; leave these out or replace the values."
        )
    if low < 0 or high > 1:
        raise CollectionError(
            f"Float images must have values from 0 to 1, got {low:g} to {high:g}; "
            "scale them, or convert values from 0 to 255 with array.astype(np.uint8)."
        )
