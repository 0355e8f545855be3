"""How often each true label meets each cluster: all that the scores need to know."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.errors import InvalidParameterError

Labels = Sequence[Any] | npt.NDArray[Any]
Counts = npt.NDArray[np.int64]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Contingency:
    """Counts of a true labelling against a found one; cells of zero are left out.

    Attributes
    ----------
    n : int
        Number of images.
    truth : array of shape (n_classes,)
        Images of each class.
    found : array of shape (n_found,)
        Images of each cluster.
    rows, columns, cells : arrays of shape (n_cells,)
        Class, cluster, and the images in both, where there are any.
    """

    n: int
    truth: Counts
    found: Counts
    rows: Codes
    columns: Codes
    cells: Counts


def contingency(truth: Labels, found: Labels) -> Contingency:
    """Count two labellings of the same images against each other.

    Parameters
    ----------
    truth, found : sequence or array of shape (n,)
        Integers, strings, or anything hashable; only which of them are equal matters.

    Raises
    ------
    InvalidParameterError
        If they are empty, of different lengths, or no plain lists of labels.
    """
    rows, columns = encode(truth, "truth"), encode(found, "found")
    if len(rows) != len(columns):
        raise InvalidParameterError(
            f"truth has {len(rows)} labels and found has {len(columns)}; "
            "give one of each for every image, in the same order."
        )
    n_found = int(columns.max()) + 1
    pairs, cells = np.unique(rows * n_found + columns, return_counts=True)
    return Contingency(
        n=len(rows),
        truth=np.bincount(rows),
        found=np.bincount(columns),
        rows=pairs // n_found,
        columns=pairs % n_found,
        cells=cells,
    )


def encode(labels: Labels, what: str) -> Codes:
    """Return labels as codes ``0 .. n_different - 1``; `what` names them in messages."""
    # Tensors and series too: the items of a tensor would each be a label of its own.
    array = np.asarray(labels) if hasattr(labels, "__array__") else None
    if array is not None and array.ndim != 1:
        raise InvalidParameterError(
            f"{what} has shape {array.shape}; give one label for each image, of shape (n,)."
        )
    if not len(labels):
        raise InvalidParameterError(f"{what} is empty; give the label of at least one image.")
    if array is not None and array.dtype.kind in "iub":
        codes: Codes = np.unique(array, return_inverse=True)[1]
        return codes
    return _encode_objects(list(labels) if array is None else array.tolist(), what)


def _encode_objects(labels: Sequence[Any], what: str) -> Codes:
    # A dictionary keeps 1 and "1" apart and takes tuples; an array would not.
    codes: dict[Any, int] = {}
    numbers = np.empty(len(labels), dtype=np.intp)
    for place, label in enumerate(labels):
        try:
            numbers[place] = codes.setdefault(label, len(codes))
        except TypeError as error:
            raise InvalidParameterError(
                f"{what} holds {label!r}, which cannot be a label; give integers or strings."
            ) from error
    if any(isinstance(label, float) and isnan(label) for label in codes):
        raise InvalidParameterError(
            f"{what} holds NaN, a missing label; leave out the images without a label."
        )
    return numbers
