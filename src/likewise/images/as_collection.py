"""Open any image source (folder, paths, archive, address, table, array) as a collection."""

import csv
import os
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import CollectionError, MissingExtraError
from likewise.images.collection import ImageCollection, Skipped, summarize_skipped
from likewise.images.encoded import is_address, read_address, read_zip
from likewise.images.files import FolderCollection, read_folder, read_paths
from likewise.images.find_files import ImageFile, Known, validate_files
from likewise.images.in_memory import ArrayCollection, is_item_source, read_items
from likewise.types import Progress, silent

TABLE_EXTENSIONS = (".csv", ".tsv", ".parquet")
#: Names of the column with the paths, in order of preference; without any, the first column.
PATH_COLUMNS = ("path", "file", "filename", "file_name", "filepath", "image", "image_path")


class ListedCollection(FolderCollection):
    """Images listed in a table; their names are relative to the folder that contains them all."""

    is_listed = True  # other images in the folder do not belong to the collection


def is_table(source: object) -> bool:
    """Return whether `source` is the path of an existing table."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    path = Path(os.fspath(source)).expanduser()
    return path.suffix.lower() in TABLE_EXTENSIONS and path.is_file()


def read_table(
    path: str | os.PathLike[str], progress: Progress = silent, known: Known | None = None
) -> ListedCollection:
    """Validate the images whose paths are in a table.

    The column is the first of `PATH_COLUMNS` that exists, else the first one. Relative paths
    are relative to the folder of the table.

    Parameters
    ----------
    path : path
        A ``.csv``, ``.tsv`` or ``.parquet`` file.
    progress, known
        As in `read_folder`.

    Raises
    ------
    CollectionError
        If the table has no rows, or none of the images can be read.
    MissingExtraError
        If it is a Parquet file and pyarrow is not installed.
    """
    table = Path(path).expanduser()
    listed = _parquet_paths(table) if table.suffix.lower() == ".parquet" else _csv_paths(table)
    if not listed:
        raise CollectionError(f"The table {str(path)!r} has no rows; list at least one image.")
    here = table.absolute().parent
    paths = [os.path.normpath(here / os.path.expanduser(one)) for one in listed]
    paths = list(dict.fromkeys(paths))
    root = Path(_common_folder(paths, table))
    named = [(one, Path(one).relative_to(root).as_posix()) for one in paths]
    results = validate_files(named, progress, known)
    files = [result for result in results if isinstance(result, ImageFile)]
    skipped = [result for result in results if isinstance(result, Skipped)]
    if not files:
        raise CollectionError(
            f"None of the {len(paths)} images listed in {str(path)!r} can be read; check the paths "
            f"(relative ones start at {here}).\n{summarize_skipped(skipped)}"
        )
    return ListedCollection(root, files, skipped)


def _common_folder(paths: Sequence[str], table: Path) -> str:
    try:
        return os.path.commonpath([os.path.dirname(path) for path in paths])
    except ValueError as error:  # drives of Windows
        raise CollectionError(
            f"The images listed in {str(table)!r} must be on one drive ({error}); copy them there."
        ) from error


def _csv_paths(table: Path) -> list[str]:
    delimiter = "\t" if table.suffix.lower() == ".tsv" else ","
    try:
        with table.open(encoding="utf-8-sig", newline="") as stream:
            rows = [row for row in csv.reader(stream, delimiter=delimiter) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CollectionError(
            f"The table {str(table)!r} cannot be read ({error}); save it as CSV in UTF-8."
        ) from error
    if not rows:
        return []
    is_header = not (table.absolute().parent / rows[0][0]).is_file()
    column = _path_column(rows[0]) if is_header else 0
    return [row[column] for row in rows[is_header:] if len(row) > column and row[column]]


def _parquet_paths(table: Path) -> list[str]:
    try:
        from pyarrow import lib, parquet
    except ImportError as error:
        raise MissingExtraError(f"The table {str(table)!r}", "pyarrow", "parquet") from error
    try:
        names = parquet.read_schema(table).names
        column = names[_path_column(names)]
        values = parquet.read_table(table, columns=[column])[column].to_pylist()
    except (OSError, lib.ArrowException) as error:
        raise CollectionError(
            f"The table {str(table)!r} cannot be read as Parquet ({error}); write it again."
        ) from error
    return _checked_texts(values, column, str(table))


def _checked_texts(values: Sequence[Any], column: str, table: str) -> list[str]:
    odd = next((value for value in values if not isinstance(value, (str, os.PathLike))), None)
    if odd is not None:
        raise CollectionError(
            f"The column {column!r} of {table} must contain paths, got {type(odd).__name__}; "
            f"name the column with the paths {PATH_COLUMNS[0]!r}."
        )
    return [os.fspath(value) for value in values]


def _path_column(names: Sequence[Any]) -> int:
    lower = [str(name).strip().lower() for name in names]
    return next((lower.index(name) for name in PATH_COLUMNS if name in lower), 0)


def is_column_or_frame(X: Any) -> bool:
    """Return whether `X` is a Series or data frame of pandas or Polars."""
    return type(X).__name__ in ("Series", "DataFrame") and hasattr(X, "to_numpy")


def paths_in_frame(X: Any) -> list[Any] | None:
    """Return the paths in a Series or data frame; None if its column has no texts."""
    if type(X).__name__ == "DataFrame":
        if not len(X.columns):
            return None
        names = list(X.columns)
        X = X[names[_path_column(names)]]
    values = X.to_list()
    is_text = bool(values) and all(isinstance(value, (str, os.PathLike)) for value in values)
    return values if is_text else None


def as_collection(X: Any, progress: Progress = silent) -> ImageCollection:
    """Return `X` as an image collection.

    Parameters
    ----------
    X : path, address, paths, array-like, data set or ImageCollection
        A folder, a ``.zip`` archive, a CSV or Parquet table of paths; an address such as
        ``s3://bucket/photos``; image files as a list, array, or column of pandas or Polars;
        images of shape (n, h, w, 3) or (n, h, w); a list of PIL images; a Hugging Face or
        torch data set; or a collection, which is returned unchanged.
    progress : Progress
        Called with the number of validated images.

    Raises
    ------
    CollectionError
        If `X` is none of these, or contains no readable image.
    """
    if isinstance(X, ImageCollection):
        return X
    if isinstance(X, (str, PathLike)):
        return _read_place(X, progress)
    if is_item_source(X):
        return read_items(X, progress)
    if is_column_or_frame(X):
        X = _paths_of(X)
    if not isinstance(X, Sequence) and not (hasattr(X, "__array__") and np.ndim(X)):
        raise CollectionError(
            f"Images must be a folder, a list of paths or an array, got {type(X).__name__}."
        )
    if not len(X):
        raise CollectionError("The list of images is empty; give at least one image.")
    if contains_paths(X):
        return read_paths([as_path(path) for path in X], progress)
    return ArrayCollection(X)


def read_local(
    path: Path,
    progress: Progress = silent,
    known: Known | None = None,
    *,
    seconds: float | None = None,
) -> FolderCollection:
    """Return the images of a folder, or those listed in a table, as files on this machine.

    Of a folder, files are left unread after `seconds`; see `read_folder`.
    """
    if is_table(path):
        return read_table(path, progress, known)
    return read_folder(path, progress, known, seconds=seconds)


def is_image_source(X: Any) -> bool:
    """Return whether `X` holds images, by its type and first element; vectors do not."""
    if isinstance(X, (str, PathLike, ImageCollection)) or is_item_source(X):
        return True
    if is_column_or_frame(X):
        return paths_in_frame(X) is not None
    is_filled = isinstance(X, Sequence) and len(X) > 0
    is_texts = isinstance(X, np.ndarray) and X.dtype.kind in "OU" and X.ndim == 1 and X.size > 0
    return (is_filled or is_texts) and contains_paths(X)


def contains_paths(X: Any) -> bool:
    """Return whether the first element of a sequence or array is a path."""
    if isinstance(X, Sequence):
        return isinstance(X[0], (str, PathLike))
    array = np.asarray(X)
    return array.ndim == 1 and isinstance(array[0], (str, PathLike))


def as_path(path: Any) -> Any:
    """Return a text of NumPy as a plain one."""
    return str(path) if isinstance(path, np.str_) else path


def _read_place(X: str | PathLike[str], progress: Progress) -> ImageCollection:
    if is_address(X):
        return read_address(str(X), progress)
    if is_table(X):
        return read_table(X, progress)
    path = Path(fspath(X)).expanduser()
    if path.suffix.lower() == ".zip" and not path.is_dir():
        return read_zip(path, progress=progress)
    return read_folder(X, progress)


def _paths_of(X: Any) -> list[Any]:
    paths = paths_in_frame(X)
    if paths is None:
        raise CollectionError(
            f"A {type(X).__name__} of images must contain paths as texts; name their column 'path'."
        )
    return paths
