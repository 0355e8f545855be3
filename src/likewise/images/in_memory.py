"""Image collections of Python objects: arrays, PIL images, Hugging Face and torch data sets."""

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.errors import CollectionError, ImageError
from likewise.images.collection import Pixels, Skipped, find_duplicates, summarize_skipped
from likewise.images.decoding import decode, to_rgb
from likewise.types import Progress, silent

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


_IMAGE_KEYS = ("image", "img", "pixel_values", "picture")


class ItemCollection:
    """Images of any size that a function returns by position.

    Every image is read once when the collection is made, for its identity, and again when its
    pixels are needed: the function must return the same image each time.

    Parameters
    ----------
    item : callable
        From a position to an image: PIL image, array, tensor, encoded bytes, or a tuple or
        mapping that contains one.
    n_items : int
    progress : Progress

    Attributes
    ----------
    skipped : list of Skipped
        Items that are not images.
    duplicates : list of lists of int

    Raises
    ------
    CollectionError
        If no item is an image.
    """

    def __init__(
        self, item: Callable[[int], Any], n_items: int, progress: Progress = silent
    ) -> None:
        self._item = item
        self._positions: list[int] = []
        self._identities: list[str] = []
        self.skipped: list[Skipped] = []
        for position in range(n_items):
            try:
                pixels = as_pixels(item(position))
            except ImageError as error:
                self.skipped.append(Skipped(str(position), str(error)))
            else:
                self._positions.append(position)
                self._identities.append(_pixel_hash(pixels))
            progress(position + 1, n_items)
        if not self._positions:
            raise CollectionError(
                f"None of the {n_items} items is an image; give images as PIL images, arrays or "
                f"tensors.\n{summarize_skipped(self.skipped)}"
            )
        self.duplicates: list[list[int]] = find_duplicates(self._identities)

    def __len__(self) -> int:
        return len(self._positions)

    def __repr__(self) -> str:
        return f"ItemCollection({len(self)} images, {len(self.skipped)} skipped)"

    def pixels(self, index: int) -> Pixels:
        """Return an image as RGB (h, w, 3)."""
        return as_pixels(self._item(self._positions[index]))

    def identity(self, index: int) -> str:
        """Return the SHA-256 of shape and pixels."""
        return self._identities[index]

    def name(self, index: int) -> str:
        """Return the position of the item as text, starting at 0."""
        return str(self._positions[index])


def _pixel_hash(pixels: Pixels) -> str:
    return hashlib.sha256(f"{pixels.shape}".encode() + pixels.tobytes()).hexdigest()


def as_pixels(item: Any) -> Pixels:
    """Return an image of any kind as RGB, uint8.

    Raises
    ------
    ImageError
        If it is not an image; the message starts with the reason.
    """
    from PIL.Image import Image
    from PIL.ImageOps import exif_transpose

    item = _image_of(item)
    if isinstance(item, Image):
        try:
            return np.array(to_rgb(exif_transpose(item)), dtype=np.uint8)
        except Exception as error:  # Pillow raises any exception for a broken image
            raise ImageError(f"cannot be decoded ({error}).") from error
    if isinstance(item, bytes):
        return decode(item)
    if hasattr(item, "detach"):  # a torch tensor, channels first
        item = item.detach().cpu().numpy()
        item = item.transpose(1, 2, 0) if item.ndim == 3 and item.shape[0] in (1, 3) else item
    if not isinstance(item, np.ndarray):
        raise ImageError(f"is not an image but {type(item).__name__}.")
    return _array_pixels(item)


def _image_of(item: Any) -> Any:
    """Return the image in a mapping or a tuple such as (image, label)."""
    if isinstance(item, dict):
        if "bytes" in item and "path" in item:  # an encoded image of a Hugging Face data set
            return item["bytes"] or decode(item["path"] or "")
        key = next((key for key in _IMAGE_KEYS if key in item), None)
        if key is None:
            raise ImageError(f"has no image; its keys are {', '.join(map(str, item))}.")
        return _image_of(item[key])
    return item[0] if isinstance(item, (tuple, list)) and item else item


def _array_pixels(image: npt.NDArray[Any]) -> Pixels:
    if image.ndim == 2:
        image = image[:, :, None]
    if image.ndim != 3 or image.shape[2] not in (1, 3) or not image.size:
        raise ImageError(f"must have the shape (h, w, 3) or (h, w), got {image.shape}.")
    if image.dtype.kind == "f":
        low, high = float(image.min()), float(image.max())
        if not (low >= 0 and high <= 1):
            raise ImageError(
                f"must have values from 0 to 1, got {low:g} to {high:g}; leave out normalisation."
            )
        image = np.rint(image * 255).astype(np.uint8)
    if image.dtype != np.uint8:
        raise ImageError(f"must be uint8, or floats from 0 to 1, got {image.dtype}.")
    return np.array(np.broadcast_to(image, (*image.shape[:2], 3)))


def is_item_source(X: Any) -> bool:
    """Return whether `X` is a data set with items, or a list of PIL images."""
    if isinstance(X, Sequence) and not isinstance(X, (str, bytes)):
        return bool(X) and type(X[0]).__module__.startswith("PIL.")
    has_items = hasattr(X, "__getitem__") and hasattr(X, "__len__")
    is_array = any(hasattr(X, name) for name in ("__array__", "ndim", "to_numpy", "matrix"))
    return is_hub_dataset(X) or (has_items and not is_array and not isinstance(X, (dict, str)))


def is_hub_dataset(X: Any) -> bool:
    """Return whether `X` is a Hugging Face `Dataset`, or a `DatasetDict` of them."""
    return type(X).__module__.partition(".")[0] == "datasets"


def read_items(X: Any, progress: Progress = silent) -> ItemCollection:
    """Return the images of a data set or a list of images as a collection.

    Raises
    ------
    CollectionError
        If it has no images.
    """
    if is_hub_dataset(X):
        X = _image_column(X)
    try:
        n_items = len(X)
    except TypeError as error:  # a torch data set without a length
        raise CollectionError(
            f"A data set must have a length, got {type(X).__name__} without one; give a list of "
            "its images."
        ) from error
    if not n_items:
        raise CollectionError("The data set is empty; give at least one image.")
    return ItemCollection(X.__getitem__, n_items, progress)


def _image_column(dataset: Any) -> Any:
    """Return a Hugging Face data set with only its image column, which is decoded here."""
    from datasets import Dataset, Image, IterableDataset
    from datasets.arrow_dataset import Column

    if isinstance(dataset, Column):
        if not isinstance(dataset.source, Dataset):
            return dataset  # inside another column: its images are decoded one by one
        dataset = dataset.source.select_columns([dataset.column_name])
    if isinstance(dataset, dict):
        raise CollectionError(
            f"Give one split of the data set, got all of them ({', '.join(dataset)}); for example "
            f"dataset[{next(iter(dataset), 'train')!r}]."
        )
    if isinstance(dataset, IterableDataset):
        raise CollectionError(
            "A streamed data set has no length; load it without streaming=True, or give a list "
            "of its images."
        )
    features = dataset.features
    columns = [name for name, feature in features.items() if isinstance(feature, Image)]
    if not columns:
        raise CollectionError(
            f"The data set has no image column; its columns are {', '.join(features)}. Cast one "
            "with dataset.cast_column(NAME, datasets.Image())."
        )
    encoded = dataset.select_columns(columns[:1]).cast_column(columns[0], Image(decode=False))
    return encoded if columns[0] == "image" else encoded.rename_column(columns[0], "image")
