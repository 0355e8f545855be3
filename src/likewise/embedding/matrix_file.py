"""Read precomputed vectors from a NumPy or Parquet file, as input instead of images."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.errors import InvalidParameterError, MissingExtraError

_REMEDY = "give a matrix with one row per item, of shape (n, d)"


def is_vector_file(X: object) -> bool:
    """Return whether `X` is the path of a file with vectors rather than of images."""
    if not isinstance(X, (str, os.PathLike)):
        return False
    path = Path(os.fspath(X)).expanduser()
    if path.suffix.lower() == ".npy":
        return not path.is_dir()
    return path.suffix.lower() == ".parquet" and path.is_file() and _has_numbers(path)


def read_vectors(path: str | os.PathLike[str]) -> npt.NDArray[Any]:
    """Return the vectors in a file, ``(n, d)``; a NumPy file is memory-mapped.

    Parameters
    ----------
    path : path
        A ``.npy`` file; or a ``.parquet`` file with one column of lists of equal length, else
        all of its columns with numbers.

    Raises
    ------
    InvalidParameterError
        If it is missing, damaged, or not a matrix of numbers.
    MissingExtraError
        If it is a Parquet file and pyarrow is not installed.
    """
    file = Path(path).expanduser()
    matrix = _read_parquet(file) if file.suffix.lower() == ".parquet" else _read_npy(file)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        raise InvalidParameterError(
            f"{file} has an array of shape {matrix.shape} and type {matrix.dtype}; {_REMEDY}."
        )
    return matrix


def _read_npy(file: Path) -> npt.NDArray[Any]:
    try:
        matrix: npt.NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise InvalidParameterError(f"{file} does not exist; check its name.") from error
    except (OSError, ValueError, EOFError) as error:
        raise InvalidParameterError(
            f"{file} cannot be read as a NumPy file ({error}); write it again with numpy.save."
        ) from error
    return matrix


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("A Parquet file", "pyarrow", "parquet") from error
    return parquet


def _has_numbers(file: Path) -> bool:
    """Return whether a Parquet file has vectors, and no column of texts that could be paths."""
    import pyarrow as pa

    try:
        schema = _parquet().read_schema(file)
    except (OSError, pa.lib.ArrowException):
        return False
    is_table = bool(len(schema)) and all(_is_number(field.type) for field in schema)
    return bool(list_columns(schema)) or is_table


def has_list_column(file: Path) -> bool:
    """Return whether a Parquet file has a column of vectors."""
    return bool(list_columns(_parquet().read_schema(file)))


def list_columns(schema: Any) -> list[str]:
    """Return the names of the columns of lists of numbers."""
    return [field.name for field in schema if _is_list(field.type)]


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return (is_list or pa.types.is_fixed_size_list(kind)) and _is_number(kind.value_type)


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _read_parquet(file: Path) -> npt.NDArray[Any]:
    import pyarrow as pa

    try:
        table = _parquet().read_table(file)
    except (OSError, pa.lib.ArrowException) as error:
        raise InvalidParameterError(
            f"{file} cannot be read as Parquet ({error}); write it again."
        ) from error
    lists = list_columns(table.schema)
    if len(lists) > 1:
        raise InvalidParameterError(
            f"{file} has several columns of vectors ({', '.join(lists)}); keep one of them."
        )
    if lists:
        return list_matrix(table[lists[0]], str(file))
    numbers = [field.name for field in table.schema if _is_number(field.type)]
    return np.column_stack([table[name].to_numpy() for name in numbers])


def list_matrix(column: Any, source: str) -> npt.NDArray[np.float32]:
    """Return a column of lists as a matrix.

    Raises
    ------
    InvalidParameterError
        If the lists have different lengths, or some are missing.
    """
    values = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    n_rows = len(values)
    flat = values.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
    lengths = np.unique(values.value_lengths().to_numpy(zero_copy_only=False)) if n_rows else [0]
    if values.null_count or len(lengths) != 1 or not n_rows:
        raise InvalidParameterError(
            f"The vectors in {source} must all have the same length, got {n_rows} rows with "
            f"lengths {', '.join(str(n) for n in lengths[:4])} and {values.null_count} missing; "
            f"{_REMEDY}."
        )
    matrix: npt.NDArray[np.float32] = flat.reshape(n_rows, -1)
    return matrix
