"""Ready vectors: arrays and ``.npy`` or ``.npz`` files that were computed elsewhere."""

import reprlib
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.encoders.embeddings import Embeddings
from likewise.encoders.encoder import Floats
from likewise.errors import EncoderError, InvalidParameterError

_ROWS_AT_ONCE = 16384
_KINDS = "a .npy file with an array (n, d), or a .npz file with one such array a facet"


def read_vectors(source: str | PathLike[str] | npt.ArrayLike) -> Embeddings:
    """Return vectors that are there already, checked; a ``.npy`` file stays on disk.

    Parameters
    ----------
    source : path or array-like of shape (n, d)
        A ``.npy`` file is memory-mapped; each array of a ``.npz`` file is a facet.

    Raises
    ------
    EncoderError
        If the file cannot be read as vectors.
    InvalidParameterError
        If it is neither a path nor numbers, rows have different lengths, numbers are missing
        or infinite, or facets do not have the same number of rows.

    Examples
    --------
    >>> read_vectors([[0.0, 1.0], [1.0, 0.0]]).matrix().shape
    (2, 2)
    """
    if not isinstance(source, (str, PathLike)):
        return Embeddings({"vectors": as_vectors(source)})
    arrays = _load(Path(source))
    return Embeddings({name: as_vectors(a, f"{source}: {name}") for name, a in arrays.items()})


def as_vectors(array: Any, name: str = "vectors", width: int | None = None) -> Floats:
    """Return `array` as float32 of shape (n, d), or say what is wrong with it.

    Parameters
    ----------
    array : array-like of shape (n, d)
        Returned as it is, without a copy, if it is float32 already.
    name : str
        What it is called in messages.
    width : int, optional
        The d it must have, where that is known.
    """
    vectors = _as_array(array, name)
    if vectors.dtype.kind not in "fiub":
        raise InvalidParameterError(
            f"{name} holds {vectors.dtype}, not numbers; give an array of floats."
        )
    if vectors.ndim != 2 or not vectors.shape[1]:
        raise InvalidParameterError(
            f"{name} has shape {vectors.shape}, not (n, d); give one vector an image."
        )
    if width is not None and vectors.shape[1] != width:
        raise InvalidParameterError(
            f"{name} has vectors of {vectors.shape[1]} numbers, but {width} are known here; "
            "compute them with the encoder that made the others."
        )
    if vectors.dtype != np.float32:
        with np.errstate(over="ignore"):  # what becomes infinite is refused below
            vectors = vectors.astype(np.float32)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        _check_finite(vectors[start : start + _ROWS_AT_ONCE], start, name)
    return vectors


def _as_array(array: Any, name: str) -> npt.NDArray[Any]:
    try:
        vectors: npt.NDArray[Any] = np.asanyarray(array)  # a memory map stays one
    except ValueError:  # rows of several lengths
        vectors = np.fromiter(array, dtype=object)
    if vectors.dtype == object:
        if not vectors.ndim:
            raise InvalidParameterError(
                f"{name} is {reprlib.repr(array)}, not numbers; give an array (n, d), one vector "
                f"an image, or the path of {_KINDS}."
            )
        _check_rows(vectors, name)
    return vectors


def _check_rows(rows: npt.NDArray[Any], name: str) -> None:
    """Refuse Python objects that are no rows, or not all of one length."""
    lengths: list[int] = []
    for i, row in enumerate(rows):
        try:
            lengths.append(len(row))
        except TypeError:
            raise InvalidParameterError(
                f"{name} holds {reprlib.repr(row)} in row {i}, not a vector of numbers; "
                "give an array of floats (n, d), one vector an image."
            ) from None
        if lengths[i] != lengths[0]:
            raise InvalidParameterError(
                f"{name} is ragged: row 0 has {lengths[0]} numbers and row {i} has {lengths[i]}; "
                "give vectors of equal length."
            )


def _check_finite(rows: npt.NDArray[Any], start: int, name: str) -> None:
    broken = ~np.isfinite(rows).all(axis=1)
    if broken.any():
        first = start + int(np.argmax(broken))
        raise InvalidParameterError(
            f"{name} holds NaN or infinite numbers (first in row {first}); leave such rows out."
        )


def _load(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays in a file."""
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
        if path.suffix == ".npy":
            return {"vectors": np.load(path, mmap_mode="r", allow_pickle=False)}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise EncoderError(f"{path} cannot be read as vectors ({error}); give {_KINDS}.") from error
    raise EncoderError(f"{path} is neither .npy nor .npz; give {_KINDS}.")
