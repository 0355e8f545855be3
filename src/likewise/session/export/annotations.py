"""Files that annotation programs import: Label Studio, FiftyOne, COCO and CVAT."""

import json
import os
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree as ET

from likewise.errors import ImageError, SessionError
from likewise.images.collection import displayed_name
from likewise.session.assignments import Assignment, assignments
from likewise.session.session import Session
from likewise.session.validation import path_below

_ANSWERS = ("same", "different", "cannot_tell", "bad_image")


def class_name(row: Assignment) -> str:
    """Return the name of the group of an image; a group without a name is numbered."""
    return row.name or f"group {row.cluster + 1}"


def class_names(rows: Sequence[Assignment]) -> list[str]:
    """Return the names of all groups that contain an image, sorted."""
    return sorted({class_name(row) for row in rows})


def _root(session: Session) -> Path:
    root = session.root
    if root is None:
        raise SessionError("The images of this session are not files; export a table instead.")
    return root


# -- Label Studio ----------------------------------------------------------------------


def label_studio(session: Session, criterion: str, groups: Collection[str] = ()) -> str:
    """Return Label Studio tasks: groups as predictions, answered pairs as annotations.

    Paths begin with the name of the image folder, whose parent is the document root of Label
    Studio: it serves no file directly in the document root. Every task has all keys, because
    Label Studio rejects a file with a task that lacks a key used by the project.
    """
    root = _root(session)
    tasks: list[object] = []
    for row in assignments(session, criterion, groups):
        result = [_choices("group", "image", class_name(row))]
        prediction = {
            "model_version": "likewise",
            "score": round(row.confidence, 4),
            "result": result,
        }
        data = _task_data("picture", root, row.path, row.path)
        tasks.append({"data": data, "predictions": [prediction]})
    names, positions = session.images.names, session.images.positions
    for entry in session.answers(criterion):
        known = [names[positions[content]] for content in entry.images if content in positions]
        if entry.kind == "pair" and len(known) == 2:
            result = [_choices("same", "first", entry.answer)]
            data = _task_data("pair", root, *known)
            tasks.append({"data": data, "annotations": [{"result": result}]})
    return json.dumps(tasks, ensure_ascii=False, indent=1)


def _choices(from_name: str, to_name: str, choice: str) -> dict[str, object]:
    return {
        "id": f"{from_name}-1",
        "from_name": from_name,
        "to_name": to_name,
        "type": "choices",
        "value": {"choices": [choice]},
    }


def _task_data(kind: str, root: Path, first: str, second: str) -> dict[str, str]:
    """Return the data of a task, images by their URL in Label Studio's local storage."""
    one, other = (
        f"/data/local-files/?d={quote(f'{root.name}/{path}', errors='surrogateescape')}"
        for path in (first, second)
    )
    return {"kind": kind, "image": one, "first": one, "second": other, "path": first}


def label_studio_config(session: Session, criterion: str, groups: Collection[str] = ()) -> str:
    """Return the labeling configuration of a project for the tasks of `label_studio`."""
    view = ET.Element("View")
    for shown, name, choices in (
        ("image", "group", class_names(assignments(session, criterion, groups))),
        ("first", "same", _ANSWERS),
    ):
        ET.SubElement(view, "Image", name=shown, value=f"${shown}")
        if shown == "first":
            ET.SubElement(view, "Image", name="second", value="$second")
        element = ET.SubElement(view, "Choices", name=name, toName=shown)
        for choice in choices:
            ET.SubElement(element, "Choice", value=choice)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


# -- FiftyOne --------------------------------------------------------------------------


def fiftyone(session: Session, criterion: str, groups: Collection[str] = ()) -> str:
    """Return ``labels.json`` of a FiftyOneImageClassificationDataset, with confidences.

    Images are named by their absolute path: by relative paths, FiftyOne could not distinguish
    images whose names differ only in the extension.
    """
    root, rows = _root(session), assignments(session, criterion, groups)
    labels = {
        os.path.abspath(root / row.path): {
            "label": class_name(row),
            "confidence": round(row.confidence, 4),
            "attributes": {"answered": row.answered},
        }
        for row in rows
    }
    return json.dumps({"classes": None, "labels": labels}, ensure_ascii=False, indent=1)


# -- COCO and CVAT ---------------------------------------------------------------------


def sized(session: Session, rows: Sequence[Assignment]) -> Iterator[tuple[Assignment, int, int]]:
    """Yield each image with its width and height; unreadable ones are left out."""
    from likewise.images.decoding import open_file, size_of

    root = _root(session)
    for row in rows:
        try:
            with open_file(path_below(root, row.path)) as stream:
                width, height = size_of(stream)
        except ImageError:
            continue
        yield row, width, height


def coco(session: Session, criterion: str, groups: Collection[str] = ()) -> str:
    """Return COCO annotations: each image has one, of its whole area, with a score."""
    rows = assignments(session, criterion, groups)
    classes = {name: number for number, name in enumerate(class_names(rows), start=1)}
    images: list[dict[str, object]] = []
    annotations: list[dict[str, object]] = []
    for number, (row, width, height) in enumerate(sized(session, rows), start=1):
        name = displayed_name(row.path)
        images.append({"id": number, "file_name": name, "width": width, "height": height})
        annotations.append(
            {
                "id": number,
                "image_id": number,
                "category_id": classes[class_name(row)],
                "bbox": [0, 0, width, height],
                "area": width * height,
                "iscrowd": 0,
                "score": round(row.confidence, 4),
            }
        )
    categories = [
        {"id": n, "name": name, "supercategory": criterion} for name, n in classes.items()
    ]
    info = {"description": f"Groups by {criterion}", "date_created": _today()}
    content = {"info": info, "categories": categories, "images": images, "annotations": annotations}
    return json.dumps(content, ensure_ascii=False, indent=1)


def cvat(session: Session, criterion: str, groups: Collection[str] = ()) -> str:
    """Return “CVAT for images 1.1” annotations: the group of each image as its tag."""
    rows = assignments(session, criterion, groups)
    top = ET.Element("annotations")
    ET.SubElement(top, "version").text = "1.1"
    task = ET.SubElement(ET.SubElement(top, "meta"), "task")
    labels = ET.SubElement(task, "labels")
    for name in class_names(rows):
        label = ET.SubElement(labels, "label")
        ET.SubElement(label, "name").text = name
        ET.SubElement(label, "type").text = "tag"
    for number, (row, width, height) in enumerate(sized(session, rows)):
        name = displayed_name(row.path)
        image = ET.SubElement(
            top, "image", id=str(number), name=name, width=str(width), height=str(height)
        )
        source = "manual" if row.answered else "auto"
        ET.SubElement(image, "tag", label=class_name(row), source=source)
    ET.indent(top)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(top, encoding="unicode") + "\n"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
