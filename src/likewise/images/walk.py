"""Which files below a folder may be pictures, without opening more than their first bytes."""

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from likewise.images.formats import (
    EXTENSIONS,
    FOREIGN_EXTENSIONS,
    HEAD,
    RAW_EXTENSIONS,
    format_of,
)
from likewise.images.skipped import Skipped


@dataclass
class Walk:
    """What lies below a folder.

    Attributes
    ----------
    files : list of (path, name)
        Candidates, ordered by name: the path below the folder, with ``/``.
    skipped : list of Skipped
        What a person would call a picture, and we do not even open.
    others : Counter
        The endings of all other files.
    """

    files: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)

    def skip(self, name: str, reason: str) -> None:
        """Leave one out."""
        self.skipped.append(Skipped(name, reason))


def walk(folder: Path) -> Walk:
    """Return the files below `folder` that may be pictures, in a fixed order."""
    root, seen = os.path.realpath(folder), Walk()

    def cannot_open(error: OSError) -> None:
        seen.skip(_name(root, error.filename), f"cannot be opened ({error.strerror}).")

    for place, folders, files in os.walk(root, onerror=cannot_open):
        folders[:] = [name for name in folders if not _is_passed_over(name)]
        for linked in filter(os.path.islink, [os.path.join(place, name) for name in folders]):
            seen.skip(_name(root, linked), "is a link to a folder, and links are not followed.")
        for name in files:
            if not name.startswith("."):
                _sort_in(os.path.join(place, name), root, seen)
    seen.files.sort(key=lambda file: file[1])
    return seen


def _is_passed_over(folder: str) -> bool:
    return folder.startswith(".") or folder.endswith(".likewise")


def _name(root: str, path: str) -> str:
    """Return the path below the root; undecodable bytes become � so that it can be shown."""
    below = path.removeprefix(root).lstrip(os.sep).replace(os.sep, "/") or "."
    return os.fsencode(below).decode("utf-8", "replace")


def _sort_in(path: str, root: str, seen: Walk) -> None:
    name, ending = _name(root, path), os.path.splitext(path)[1].lower()
    is_picture_by_name = ending in EXTENSIONS or ending in FOREIGN_EXTENSIONS
    if ending in RAW_EXTENSIONS:
        seen.skip(name, f"is a raw photo ({ending}), which is not read; save it as JPEG or PNG.")
    elif _leads_out(path, root):
        if is_picture_by_name:
            seen.skip(name, "is a link to a file outside the folder; copy the picture instead.")
    elif is_picture_by_name or _is_picture_by_content(path):
        seen.files.append((path, name))
    else:
        seen.others[ending] += 1


def _leads_out(path: str, root: str) -> bool:
    if not os.path.islink(path):
        return False
    return os.path.commonpath([os.path.realpath(path), root]) != root


def _is_picture_by_content(path: str) -> bool:
    if not os.path.isfile(path):  # a pipe would keep us waiting
        return False
    try:
        with open(path, "rb") as stream:
            return format_of(stream.read(HEAD)) is not None
    except OSError:
        return False
