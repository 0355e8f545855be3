"""Export formats by name; CSV and Parquet tables."""

import csv
import io
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Protocol

import numpy as np

from likewise.constraints.assignment import violated_answers
from likewise.errors import ImageError, UnknownNameError
from likewise.images.collection import displayed_name
from likewise.plugins import EXPORTERS, load_plugin, plugin_names
from likewise.session.assignments import Assignment, assignments, mark_unsure
from likewise.session.atomic import write_new
from likewise.session.export.annotations import (
    coco,
    cvat,
    fiftyone,
    label_studio,
    label_studio_config,
)
from likewise.session.export.html import GroupTiles, Page, Section, Tile, html
from likewise.session.import_answers import answer_lines
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
    groups: Collection[str] = (),
) -> Exported:
    """Write a new CSV file with one row per present image.

    Images in no answer whose confidence is less than `unsure_below` are in the
    group ``unsure``, cluster -1. For `raw`, see `write_table`; for `groups`, see `assignments`.

    Raises
    ------
    InvalidParameterError
        If `unsure_below` is not a probability.
    SessionError
        If the criterion has no results yet, the file exists, or it cannot be written.
    """
    rows = mark_unsure(assignments(session, criterion, groups), unsure_below)
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


_MIN_TILES, _MAX_TILES = 60, 1_200  # images per group at least, and per page: about 10 MB


class Thumbnails(Protocol):
    """Provides small WebP images; `ImageError` if the image cannot be read."""

    def thumbnail(self, image: int) -> bytes:
        """Return the thumbnail of the image at this position."""
        ...


@dataclass(frozen=True)
class Format:
    """An export format: file extension, media type, and the function that makes the content."""

    extension: str
    media_type: str
    make: Callable[[Session, Thumbnails, str, Collection[str]], str | bytes]


def export(
    session: Session,
    thumbnails: Thumbnails,
    criterion: str,
    to: str,
    groups: Collection[str] = (),
) -> bytes:
    """Return the content of the exported file, of all groups or of those chosen by name or key.

    Raises
    ------
    UnknownNameError
        If there is no such format or group.
    SessionError
        If the criterion has no results yet.
    """
    wanted = find_format(to)
    made = wanted.make(session, thumbnails, criterion, groups)
    if isinstance(made, bytes):
        return made
    # File names that are not UTF-8: as their own bytes, in JSON as escapes like "\udce9".
    is_json = wanted.media_type == "application/json"
    return made.encode("utf-8", "backslashreplace" if is_json else "surrogateescape")


def find_format(name: str) -> Format:
    """Return a format by its name, also one of another package; see `likewise.plugins`.

    Raises
    ------
    UnknownNameError
        If there is no such format.
    PluginError
        If it cannot be loaded.
    """
    if name in FORMATS:
        return FORMATS[name]
    if name not in plugin_names(EXPORTERS):
        raise UnknownNameError("export format", name, [*FORMATS, *plugin_names(EXPORTERS)])
    found: Format = load_plugin(EXPORTERS, name)
    return found


def _csv(session: Session, thumbnails: Thumbnails, criterion: str, groups: Collection[str]) -> str:
    return to_csv(assignments(session, criterion, groups))


def _parquet(
    session: Session, thumbnails: Thumbnails, criterion: str, groups: Collection[str]
) -> bytes:
    return to_parquet(assignments(session, criterion, groups))


def _answers(
    session: Session, thumbnails: Thumbnails, criterion: str, groups: Collection[str]
) -> str:
    return "".join(answer_lines(session, criterion))


def _html(session: Session, thumbnails: Thumbnails, criterion: str, groups: Collection[str]) -> str:
    """Return one HTML file with embedded thumbnails and no script."""
    by_group: dict[tuple[int, str], list[Assignment]] = {}
    for row in assignments(session, criterion, groups):
        by_group.setdefault((row.cluster, row.name), []).append(row)
    colours = {group.name: group.colour for group in session.groups(criterion).shown()}
    n_tiles = max(_MIN_TILES, _MAX_TILES // max(len(by_group), 1))
    shown = []
    for (_, name), rows in sorted(by_group.items(), key=lambda item: item[0]):
        rows.sort(key=lambda row: -row.confidence)
        tiles = [tile for row in rows[:n_tiles] if (tile := _tile(thumbnails, row))]
        shown.append(GroupTiles(name, colours.get(name, "#777777"), len(rows), tiles))
    folder = "Pictures" if session.root is None else session.root.name
    summary = _summary(session, criterion, [row for rows in by_group.values() for row in rows])
    return html(Page(f"{folder}, by {criterion}", [Section("", shown)], [summary]))


def _summary(session: Session, criterion: str, rows: list[Assignment]) -> str:
    """Return how many answers there are, and whether the groups satisfy all of them."""
    graph, labels = session.graph(criterion), np.full(len(session.images), -1, dtype=np.intp)
    for row in rows:
        labels[row.position] = row.cluster
    images = {number: list(graph.answers[number].question.images) for number in graph.answers}
    n_violated = sum(
        (labels[images[number]] >= 0).all() for number in violated_answers(labels, graph)
    )
    satisfied = "all are satisfied" if not n_violated else f"{n_violated:,} are not satisfied"
    n = graph.n_answers
    return (
        f"From {n:,} answer{'s' * (n != 1)}; {satisfied}. Pictures are sorted by confidence, "
        "highest first."
    )


def _tile(thumbnails: Thumbnails, row: Assignment) -> Tile | None:
    try:
        return Tile(thumbnails.thumbnail(row.position), f"{row.path} ({row.confidence:.0%})")
    except ImageError:
        return None


def _of_rows(
    make: Callable[[Session, str, Collection[str]], str],
) -> Callable[[Session, Thumbnails, str, Collection[str]], str]:
    """Return `make` as a format that needs no thumbnails."""

    def content(
        session: Session, thumbnails: Thumbnails, criterion: str, groups: Collection[str]
    ) -> str:
        return make(session, criterion, groups)

    return content


FORMATS = {
    "csv": Format("csv", "text/csv", _csv),
    "parquet": Format("parquet", "application/vnd.apache.parquet", _parquet),
    "html": Format("html", "text/html", _html),
    "labelstudio": Format("labelstudio.json", "application/json", _of_rows(label_studio)),
    "labelstudio-config": Format(
        "labelstudio.xml", "application/xml", _of_rows(label_studio_config)
    ),
    "fiftyone": Format("fiftyone.json", "application/json", _of_rows(fiftyone)),
    "coco": Format("coco.json", "application/json", _of_rows(coco)),
    "cvat": Format("cvat.xml", "application/xml", _of_rows(cvat)),
    "answers": Format("jsonl", "application/jsonl", _answers),
}
