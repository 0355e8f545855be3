"""A folder of images with a CSV table of true labels."""

import csv
import io
import warnings
from os import PathLike
from pathlib import Path, PurePosixPath

import numpy as np

from likewise.errors import DatasetError, LikewiseWarning
from likewise.images.collection import summarize_skipped
from likewise.images.files import read_folder
from likewise.types import Progress, silent
from likewise_bench.datasets.base import Dataset, some

_FORM = "the first column must be the file path in the folder, every other column a criterion"


def load_labels_csv(
    images: str | PathLike[str],
    labels: str | PathLike[str],
    *,
    name: str | None = None,
    progress: Progress = silent,
) -> Dataset:
    """Load a folder of images with its table of labels.

    Parameters
    ----------
    images : path
        The folder.
    labels : path
        A CSV file with a header, separated by commas, semicolons or tabs. The first column is
        the file path in the folder, every other column a criterion. Columns with empty cells
        cannot be used as criteria.
    name : str, optional
        Name of the data set; default: name of the folder.
    progress : Progress
        Called with the number of images read.

    Raises
    ------
    DatasetError
        If the table and the folder have different files, or every column has empty cells.
    """
    table = Path(labels).expanduser()
    columns, rows = read_labels(table)
    collection = read_folder(images, progress)
    names = [collection.name(i) for i in range(len(collection))]
    broken = [one for one in collection.skipped if one.name in rows]
    _check_same(table, collection.folder, rows.keys() - {one.name for one in broken}, set(names))
    if broken:
        warnings.warn(
            f"{len(broken)} of the {len(rows)} images in {table.name} cannot be read and were "
            f"skipped:\n{summarize_skipped(broken)}",
            LikewiseWarning,
            stacklevel=2,
        )
    gaps = _gaps(table, columns, {name: rows[name] for name in names})
    found = np.array([rows[name] for name in names])  # (n, number of columns)
    criteria = {column: found[:, i] for i, column in enumerate(columns) if column not in gaps}
    if not criteria:
        raise DatasetError(" ".join(gaps.values()))
    return Dataset(name or collection.folder.resolve().name, criteria, collection, unusable=gaps)


def read_labels(table: Path) -> tuple[list[str], dict[str, list[str]]]:
    """Return the column names, and the labels of each file in column order."""
    header, *lines = _read_lines(table)
    columns = [column.strip() for column in header[1:]]
    _check_header(table, columns)
    rows: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=2):
        cells = [cell.strip() for cell in line]
        if not any(cells):
            continue
        if len(cells) != len(columns) + 1:
            raise DatasetError(
                f"Row {number} of {str(table)!r} has {len(cells)} cells where the header has "
                f"{len(columns) + 1}; put texts that contain the separator in quotes."
            )
        file = PurePosixPath(cells[0]).as_posix()
        if file in rows:
            raise DatasetError(f"{file!r} occurs twice in {str(table)!r}; keep one of its rows.")
        rows[file] = cells[1:]
    if not rows:
        raise DatasetError(f"{str(table)!r} has no rows; add one row per file, with its labels.")
    return columns, rows


def _gaps(table: Path, columns: list[str], rows: dict[str, list[str]]) -> dict[str, str]:
    """Return the columns with missing labels, each with a message."""
    gaps = {}
    for i, column in enumerate(columns):
        empty = [file for file, labels in rows.items() if not labels[i]]
        if empty:
            gaps[column] = (
                f"{str(table)!r} has no {column!r} for {len(empty)} of {len(rows)} files "
                f"({some(empty)}); fill in these cells, or remove these files."
            )
    return gaps


def _read_lines(table: Path) -> list[list[str]]:
    if not table.is_file():
        raise DatasetError(f"The table of labels {str(table)!r} does not exist; {_FORM}.")
    try:
        text = table.read_bytes().decode("utf-8-sig")
        separator = max(",;\t", key="".join(text.splitlines()[:1]).count)
        stream = io.StringIO(text, newline="")  # keep line ends inside quotes
        lines = list(csv.reader(stream, delimiter=separator, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(
            f"{str(table)!r} cannot be read as a table ({error}); save it as CSV in UTF-8."
        ) from error
    if not lines:
        raise DatasetError(f"{str(table)!r} is empty; {_FORM}.")
    return lines


def _check_header(table: Path, columns: list[str]) -> None:
    wrong = sorted({column for column in columns if not column or columns.count(column) > 1})
    if not columns or wrong:
        reason = "has one column only" if not columns else f"has a bad header ({some(wrong)})"
        raise DatasetError(
            f"{str(table)!r} {reason}; {_FORM}, with a unique name in the first row."
        )


def _check_same(table: Path, folder: Path, in_table: set[str], in_folder: set[str]) -> None:
    """Raise an error unless the table and the folder have the same files."""
    only = {"table": sorted(in_table - in_folder), "folder": sorted(in_folder - in_table)}
    if any(only.values()):
        reasons = [f"{len(n)} only in the {place}: {some(n)}" for place, n in only.items() if n]
        raise DatasetError(
            f"{str(table)!r} and the folder {str(folder)!r} have different files "
            f"({'; '.join(reasons)}); give the folder that belongs to the table, or make both "
            "contain the same files."
        )
