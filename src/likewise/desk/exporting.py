"""Results to take along as one file: a table, a gallery page, other programs' formats, answers."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from posixpath import splitext
from urllib.parse import quote

import numpy as np

from likewise.constraints.honour import violated
from likewise.desk.album import Album
from likewise.errors import ImageError, SessionError, UnknownNameError
from likewise.session.assignments import Assignment, assignments
from likewise.session.gallery import Page, Section, Shown, Tile, html
from likewise.session.session import Session
from likewise.session.transfer import answer_lines

_TILES, _MOST = 60, 1_200  # pictures on the page, of each group at least and of all at most: 10 MB
COLUMNS = ("path", "cluster", "name", "confidence", "answered")


@dataclass(frozen=True)
class Form:
    """One form to export to: the ending of its file, its media type, and how it is made."""

    ending: str
    media_type: str
    make: Callable[[Session, Album, str], str | bytes]


def export(session: Session, album: Album, orientation: str, to: str) -> bytes:
    """Return the content of the file.

    Raises
    ------
    UnknownNameError
        If there is no such form.
    SessionError
        If nothing was trained yet.
    """
    if to not in FORMS:
        raise UnknownNameError("form of export", to, FORMS)
    made = FORMS[to].make(session, album, orientation)
    return made if isinstance(made, bytes) else made.encode("utf-8", "surrogateescape")


def _table(session: Session, album: Album, orientation: str) -> str:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for row in assignments(session, orientation):
        answered = "true" if row.answered else "false"
        table.writerow([row.path, row.cluster, row.name, f"{row.confidence:.4f}", answered])
    return out.getvalue()


def _parquet(session: Session, album: Album, orientation: str) -> bytes:
    """Return the same table for programs that read columns."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = assignments(session, orientation)
    columns = {
        "path": pa.array([_sayable(row.path) for row in rows], pa.string()),
        "cluster": pa.array([row.cluster for row in rows], pa.int32()),
        "name": pa.array([row.name for row in rows], pa.string()).dictionary_encode(),
        "confidence": pa.array([row.confidence for row in rows], pa.float32()),
        "answered": pa.array([row.answered for row in rows], pa.bool_()),
    }
    out = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns), out)
    return bytes(out.getvalue())


def _sayable(path: str) -> str:
    """Return a path as text that every program reads; bytes that are none become �."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _answers(session: Session, album: Album, orientation: str) -> str:
    return "".join(answer_lines(session, orientation))


def _page(session: Session, album: Album, orientation: str) -> str:
    """Return a page that can be mailed: thumbnails inside, no script."""
    by_name: dict[tuple[int, str], list[Assignment]] = {}
    for row in assignments(session, orientation):
        by_name.setdefault((row.cluster, row.name), []).append(row)
    groups = session.groups(orientation)
    colours = {group.name: group.colour for group in groups.shown()}
    shown = []
    for (_, name), rows in sorted(by_name.items(), key=lambda item: item[0]):
        rows.sort(key=lambda row: -row.confidence)
        share = max(_TILES, _MOST // len(by_name))
        tiles = [tile for row in rows[:share] if (tile := _tile(album, row))]
        shown.append(Shown(name, colours.get(name, "#777777"), len(rows), tiles))
    folder = "Pictures" if session.root is None else session.root.name
    about = _about(session, orientation, [row for rows in by_name.values() for row in rows])
    return html(Page(f"{folder}, by {orientation}", [Section("", shown)], [about]))


def _about(session: Session, orientation: str, rows: list[Assignment]) -> str:
    """Say on how many answers the groups rest, and whether all of them hold."""
    graph, labels = session.graph(orientation), np.full(len(session.images), -1, dtype=np.intp)
    for row in rows:
        labels[row.position] = row.cluster
    said = {number: list(graph.answers[number].question.images) for number in graph.answers}
    n_wrong = sum((labels[said[number]] >= 0).all() for number in violated(labels, graph))
    hold = "all of them hold" if not n_wrong else f"{n_wrong:,} of them could not be honoured"
    n = graph.n_answers
    return f"From {n:,} answer{'s' * (n != 1)}; {hold}. The surest pictures come first."


def _tile(album: Album, row: Assignment) -> Tile | None:
    try:
        return Tile(album.thumbnail(row.position), f"{row.path} ({row.confidence:.0%})")
    except ImageError:
        return None


def _label_studio(session: Session, album: Album, orientation: str) -> str:
    """Return tasks with the groups as predictions, and pairs that were asked as `Choices`.

    Each has all keys: Label Studio lets in no file with a task that lacks one of its project's.
    """
    root = session.root
    if root is None:
        raise SessionError("The pictures of this session are not files; export a table instead.")
    tasks: list[object] = []
    for row in assignments(session, orientation):
        value = {"choices": [row.name]}
        result = [{"from_name": "group", "to_name": "image", "type": "choices", "value": value}]
        tasks.append(
            {
                "data": _task("picture", row.path, row.path),
                "predictions": [{"score": round(row.confidence, 4), "result": result}],
            }
        )
    names, positions = session.images.names, session.images.positions
    for entry in session.answers(orientation):
        if entry.kind != "pair":
            continue
        first, second = (names[positions[content]] for content in entry.images)
        value = {"choices": [entry.answer]}
        result = [{"from_name": "same", "to_name": "first", "type": "choices", "value": value}]
        tasks.append({"data": _task("pair", first, second), "annotations": [{"result": result}]})
    return json.dumps(tasks, ensure_ascii=False, indent=1)


def _task(kind: str, first: str, second: str) -> dict[str, str]:
    """Return pictures by their addresses in Label Studio's local storage."""
    one, other = (
        f"/data/local-files/?d={quote(path, errors='surrogateescape')}" for path in (first, second)
    )
    return {"kind": kind, "image": one, "first": one, "second": other, "path": first}


def _fiftyone(session: Session, album: Album, orientation: str) -> str:
    """Return ``labels.json`` of a FiftyOneImageClassificationDataset; its data is the folder.

    There a picture is called by its path without the ending. FiftyOne knows only one of the files
    that are then called the same, nobody can say which: a label might go to the wrong one.
    """
    rows = assignments(session, orientation)
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


def left_out(session: Session, orientation: str, to: str) -> tuple[tuple[str, str], ...]:
    """Return the path of each picture that the form cannot hold, and why."""
    if to != "fiftyone":
        return ()
    rows = assignments(session, orientation)
    shared = _shared_names(rows)
    reason = "has another ending than a picture of the same name, and FiftyOne ignores endings"
    return tuple((row.path, reason) for row in rows if splitext(row.path)[0] in shared)


FORMS = {
    "csv": Form("csv", "text/csv", _table),
    "parquet": Form("parquet", "application/vnd.apache.parquet", _parquet),
    "html": Form("html", "text/html", _page),
    "labelstudio": Form("labelstudio.json", "application/json", _label_studio),
    "fiftyone": Form("fiftyone.json", "application/json", _fiftyone),
    "answers": Form("jsonl", "application/jsonl", _answers),
}
