"""Export the group of every image as a table: CSV or Parquet."""

import csv
import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO

from likewise.images.collection import displayed_name
from likewise.session.assignments import Assignment, assignments, mark_unsure
from likewise.session.atomic import write_new
from likewise.session.session import Session

COLUMNS = ("path", "cluster", "name", "confidence", "answered")


@dataclass(frozen=True)
class Exported:
    """Result of an export.

    Parameters
    ----------
    n_written : int
    left_out : tuple of (str, str)
        The path of each image that was not written, and why.
    """

    n_written: int
    left_out: tuple[tuple[str, str], ...]


def export_csv(
    session: Session,
    path: str | PathLike[str],
    criterion: str = "",
    *,
    unsure_below: float = 0.0,
    raw: bool = False,
) -> Exported:
    """Write a new CSV file with one row per present image.

    Images in no answer whose confidence is less than `unsure_below` are in the
    group ``unsure``, cluster -1. For `raw`, see `write_table`.

    Raises
    ------
    InvalidParameterError
        If `unsure_below` is not a probability.
    SessionError
        If the criterion has no results yet, the file exists, or it cannot be written.
    """
    rows = mark_unsure(assignments(session, criterion), unsure_below)
    write_new(Path(path), lambda stream: write_csv(stream, rows, raw=raw))
    return Exported(len(rows), not_present(session))


def write_csv(stream: IO[str], rows: Iterable[Assignment], *, raw: bool = False) -> None:
    """Write a header and one row per image."""
    cells = (
        (row.path, row.cluster, row.name, f"{row.confidence:.4f}", str(row.answered).lower())
        for row in rows
    )
    write_table(stream, COLUMNS, cells, raw=raw)


def write_table(
    stream: IO[str],
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    raw: bool = False,
) -> None:
    """Write any table as CSV to an open file or to stdout.

    A spreadsheet executes a text that begins with ``=``, ``+``, ``-`` or ``@``, such as a file
    name, as a formula. Such texts get a leading apostrophe unless `raw`.
    """
    if stream is sys.stdout and isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="surrogateescape")  # file names that are not UTF-8
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(header)
    table.writerows(rows if raw else ([_without_formula(cell) for cell in row] for row in rows))


def _without_formula(cell: object) -> object:
    """Return a cell with an apostrophe before a text that a spreadsheet takes for a formula."""
    is_formula = isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{cell}" if is_formula else cell


def to_csv(rows: Iterable[Assignment]) -> str:
    """Return the content of a CSV file."""
    stream = io.StringIO()
    write_csv(stream, rows)
    return stream.getvalue()


def to_parquet(rows: list[Assignment]) -> bytes:
    """Return the content of a Parquet file with the same columns as the CSV file."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = {
        "path": pa.array([displayed_name(row.path) for row in rows], pa.string()),
        "cluster": pa.array([row.cluster for row in rows], pa.int32()),
        "name": pa.array([row.name for row in rows], pa.string()).dictionary_encode(),
        "confidence": pa.array([row.confidence for row in rows], pa.float32()),
        "answered": pa.array([row.answered for row in rows], pa.bool_()),
    }
    stream = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns), stream)
    return bytes(stream.getvalue())


def not_present(session: Session) -> tuple[tuple[str, str], ...]:
    """Return the path and status of each image that is not present."""
    images = session.images
    pairs = zip(images.names, images.status, strict=True)
    return tuple((name, f"is {status}") for name, status in pairs if status != "present")
