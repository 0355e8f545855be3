"""Export of a criterion as the content of one file, by the name of the format."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from posixpath import splitext
from typing import Protocol
from urllib.parse import quote

import numpy as np

from likewise.constraints.assignment import violated_answers
from likewise.errors import ImageError, SessionError, UnknownNameError
from likewise.session.assignments import Assignment, assignments
from likewise.session.export.html import GroupTiles, Page, Section, Tile, html
from likewise.session.export.tables import to_csv, to_parquet
from likewise.session.import_answers import answer_lines
from likewise.session.session import Session

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
    make: Callable[[Session, Thumbnails, str], str | bytes]


def export(session: Session, thumbnails: Thumbnails, criterion: str, to: str) -> bytes:
    """Return the content of the exported file.

    Raises
    ------
    UnknownNameError
        If there is no such format.
    SessionError
        If the criterion has no results yet.
    """
    if to not in FORMATS:
        raise UnknownNameError("export format", to, FORMATS)
    made = FORMATS[to].make(session, thumbnails, criterion)
    if isinstance(made, bytes):
        return made
    # File names that are not UTF-8: as their own bytes, in JSON as escapes like "\udce9".
    is_json = FORMATS[to].media_type == "application/json"
    return made.encode("utf-8", "backslashreplace" if is_json else "surrogateescape")


def _csv(session: Session, thumbnails: Thumbnails, criterion: str) -> str:
    return to_csv(assignments(session, criterion))


def _parquet(session: Session, thumbnails: Thumbnails, criterion: str) -> bytes:
    return to_parquet(assignments(session, criterion))


def _answers(session: Session, thumbnails: Thumbnails, criterion: str) -> str:
    return "".join(answer_lines(session, criterion))


def _html(session: Session, thumbnails: Thumbnails, criterion: str) -> str:
    """Return one HTML file with embedded thumbnails and no script."""
    by_group: dict[tuple[int, str], list[Assignment]] = {}
    for row in assignments(session, criterion):
        by_group.setdefault((row.cluster, row.name), []).append(row)
    colours = {group.name: group.colour for group in session.groups(criterion).shown()}
    n_tiles = max(_MIN_TILES, _MAX_TILES // max(len(by_group), 1))
    groups = []
    for (_, name), rows in sorted(by_group.items(), key=lambda item: item[0]):
        rows.sort(key=lambda row: -row.confidence)
        tiles = [tile for row in rows[:n_tiles] if (tile := _tile(thumbnails, row))]
        groups.append(GroupTiles(name, colours.get(name, "#777777"), len(rows), tiles))
    folder = "Pictures" if session.root is None else session.root.name
    summary = _summary(session, criterion, [row for rows in by_group.values() for row in rows])
    return html(Page(f"{folder}, by {criterion}", [Section("", groups)], [summary]))


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


def _label_studio(session: Session, thumbnails: Thumbnails, criterion: str) -> str:
    """Return Label Studio tasks: groups as predictions, answered pairs as annotations.

    Every task has all keys, because Label Studio rejects a file with a task that
    lacks a key used by the project.
    """
    if session.root is None:
        raise SessionError("The images of this session are not files; export a table instead.")
    tasks: list[object] = []
    for row in assignments(session, criterion):
        result = [_choices("group", "image", row.name)]
        tasks.append(
            {
                "data": _task_data("picture", row.path, row.path),
                "predictions": [{"score": round(row.confidence, 4), "result": result}],
            }
        )
    names, positions = session.images.names, session.images.positions
    for entry in session.answers(criterion):
        if entry.kind == "pair":
            first, second = (names[positions[content]] for content in entry.images)
            result = [_choices("same", "first", entry.answer)]
            data = _task_data("pair", first, second)
            tasks.append({"data": data, "annotations": [{"result": result}]})
    return json.dumps(tasks, ensure_ascii=False, indent=1)


def _choices(from_name: str, to_name: str, choice: str) -> dict[str, object]:
    value = {"choices": [choice]}
    return {"from_name": from_name, "to_name": to_name, "type": "choices", "value": value}


def _task_data(kind: str, first: str, second: str) -> dict[str, str]:
    """Return the data of a task, images by their URL in Label Studio's local storage."""
    one, other = (
        f"/data/local-files/?d={quote(path, errors='surrogateescape')}" for path in (first, second)
    )
    return {"kind": kind, "image": one, "first": one, "second": other, "path": first}


def _fiftyone(session: Session, thumbnails: Thumbnails, criterion: str) -> str:
    """Return ``labels.json`` of a FiftyOneImageClassificationDataset; its data is the folder.

    FiftyOne identifies an image by its path without the extension; images that
    share one are left out, because a label could be applied to the wrong file.
    """
    rows = assignments(session, criterion)
    classes = sorted({row.name for row in rows})
    shared = _shared_names(rows)
    labels = {
        name: classes.index(row.name)
        for row in rows
        if (name := splitext(row.path)[0]) not in shared
    }
    return json.dumps({"classes": classes, "labels": labels}, ensure_ascii=False, indent=1)


def _shared_names(rows: list[Assignment]) -> set[str]:
    counts = Counter(splitext(row.path)[0] for row in rows)
    return {name for name, count in counts.items() if count > 1}


def left_out(session: Session, criterion: str, to: str) -> tuple[tuple[str, str], ...]:
    """Return the path of each image that the format cannot represent, and why."""
    if to != "fiftyone":
        return ()
    rows = assignments(session, criterion)
    shared = _shared_names(rows)
    reason = "differs from another image only in its extension, which FiftyOne ignores"
    return tuple((row.path, reason) for row in rows if splitext(row.path)[0] in shared)


FORMATS = {
    "csv": Format("csv", "text/csv", _csv),
    "parquet": Format("parquet", "application/vnd.apache.parquet", _parquet),
    "html": Format("html", "text/html", _html),
    "labelstudio": Format("labelstudio.json", "application/json", _label_studio),
    "fiftyone": Format("fiftyone.json", "application/json", _fiftyone),
    "answers": Format("jsonl", "application/jsonl", _answers),
}
