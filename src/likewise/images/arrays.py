"""Pictures that are already in memory, as one array."""

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.errors import CollectionError
from likewise.images.collection import Pixels
from likewise.images.duplicates import find_duplicates
from likewise.images.skipped import Skipped

_FORM = "give pictures as uint8 of shape (n, h, w, 3) or (n, h, w), or as floats from 0 to 1"


class ArrayCollection:
    """Pictures of one size in one array, which is kept and not copied.

    Parameters
    ----------
    array : array-like of shape (n, h, w, 3), (n, h, w, 1) or (n, h, w)
        uint8, or floats from 0 to 1.

    Attributes
    ----------
    skipped : list of Skipped
        Always empty: an array with a broken picture is refused.
    duplicates : list of lists of int
        Positions that show the same pixels.

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
        """Return one image as RGB (h, w, 3); a copy."""
        picture = self._array[index]
        if picture.dtype.kind == "f":
            picture = np.rint(picture * 255).astype(np.uint8)
        if picture.ndim == 2:
            picture = picture[:, :, None]
        return np.array(np.broadcast_to(picture, (*picture.shape[:2], 3)))

    def identity(self, index: int) -> str:
        """Return the SHA-256 of shape and pixels as `pixels` gives them."""
        pixels = self.pixels(index)
        return hashlib.sha256(f"{pixels.shape}".encode() + pixels.tobytes()).hexdigest()

    def name(self, index: int) -> str:
        """Return the position as text, counted from 0."""
        return str(range(len(self))[index])

    @cached_property
    def duplicates(self) -> list[list[int]]:
        """Return the positions that show the same pixels; computed when first asked for."""
        return find_duplicates(self.identity(index) for index in range(len(self)))


def _as_array(array: Any) -> npt.NDArray[Any]:
    if isinstance(array, np.ndarray) and array.dtype.kind == "O":
        array = list(array)
    try:
        return np.asarray(array)
    except ValueError as error:
        shapes = [_shape(picture) for picture in array]
        odd = next((i for i, shape in enumerate(shapes) if shape != shapes[0]), 0)
        raise CollectionError(
            f"Image {odd} is {shapes[odd]} where image 0 is {shapes[0]}; bring all to one "
            "size (likewise.images.resize.resize does), or give their paths."
        ) from error


def _shape(picture: Any) -> str:
    try:
        return f"of shape {np.shape(picture)}"
    except ValueError:
        return "ragged in itself"


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) == 2:
        raise CollectionError(f"An array of shape {shape} holds vectors, not pictures; {_FORM}.")
    if len(shape) == 3 and shape[2] == 3:
        raise CollectionError(
            f"An array of shape {shape} is one picture, not a collection; "
            "give array[None] for a collection of one."
        )
    if len(shape) == 4 and shape[1] in (1, 3) and shape[3] not in (1, 3):
        raise CollectionError(
            f"An array of shape {shape} has its colours first; give array.transpose(0, 2, 3, 1)."
        )
    if len(shape) not in (3, 4) or (len(shape) == 4 and shape[3] not in (1, 3)):
        raise CollectionError(f"An array of shape {shape} holds no RGB pictures; {_FORM}.")
    if 0 in shape:
        raise CollectionError(f"An array of shape {shape} is empty; give at least one picture.")


def _check_values(array: npt.NDArray[Any]) -> None:
    if array.dtype == np.uint8:
        return
    if array.dtype.kind != "f":
        raise CollectionError(f"An array of dtype {array.dtype} is no picture; {_FORM}.")
    low, high = array.min(), array.max()  # NaN if one of them is
    if np.isnan(low) or np.isinf([low, high]).any():
        bad = ~np.isfinite(array).reshape(len(array), -1).all(axis=1)
        raise CollectionError(
            f"Image {int(bad.argmax())} holds NaN or infinite values, as do {int(bad.sum())} "
            "images in all; leave these out or replace the values."
        )
    if low < 0 or high > 1:
        raise CollectionError(
            f"An array of floats from {low:g} to {high:g} is not within 0 .. 1; "
            "scale it, or convert values from 0 to 255 with array.astype(np.uint8)."
        )
