"""Find the image files below a folder, reading at most their first bytes."""

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from likewise.images.decoding import HEAD, format_of
from likewise.images.unreadable import Skipped

EXTENSIONS = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif"})
# Image formats that are not supported: they are reported as skipped.
UNSUPPORTED_EXTENSIONS = frozenset({".heic", ".heif", ".avif", ".jxl", ".jp2", ".svg", ".psd"})
# By content most of these are TIFFs, whose first image is a thumbnail of the photo.
RAW_EXTENSIONS = frozenset(
    {".dng", ".cr2", ".cr3", ".nef", ".nrw", ".arw", ".orf", ".rw2", ".raf", ".pef", ".srw"}
)


@dataclass
class FoundFiles:
    """The files below a folder.

    Attributes
    ----------
    files : list of (path, name)
        Possible images, ordered by name: the path below the folder, with ``/``.
    skipped : list of Skipped
        Images that are skipped without opening them.
    others : Counter
        The extensions of all other files.
    """

    files: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)

    def skip(self, name: str, reason: str) -> None:
        """Add a skipped file."""
        self.skipped.append(Skipped(name, reason))


def find_files(folder: Path) -> FoundFiles:
    """Return the files below `folder` that may be images, in a fixed order."""
    root, found = os.path.realpath(folder), FoundFiles()

    def cannot_open(error: OSError) -> None:
        found.skip(_name(root, error.filename), f"cannot be opened ({error.strerror}).")

    for parent, folders, files in os.walk(root, onerror=cannot_open):
        folders[:] = [name for name in folders if not _is_ignored(name)]
        for link in filter(os.path.islink, [os.path.join(parent, name) for name in folders]):
            found.skip(_name(root, link), "is a link to a folder; links are not followed.")
        for name in files:
            if not name.startswith("."):
                _classify(os.path.join(parent, name), root, found)
    found.files.sort(key=lambda file: file[1])
    return found


def _is_ignored(folder: str) -> bool:
    return folder.startswith(".") or folder.endswith(".likewise")


def _name(root: str, path: str) -> str:
    """Return the path below the root; undecodable bytes are replaced by �."""
    below = path.removeprefix(root).lstrip(os.sep).replace(os.sep, "/") or "."
    return os.fsencode(below).decode("utf-8", "replace")


def _classify(path: str, root: str, found: FoundFiles) -> None:
    """Add a file to the images, the skipped files or the other files of `found`."""
    name, extension = _name(root, path), os.path.splitext(path)[1].lower()
    is_image_by_name = extension in EXTENSIONS or extension in UNSUPPORTED_EXTENSIONS
    if extension in RAW_EXTENSIONS:
        found.skip(
            name, f"is a raw photo ({extension}), which is not supported; save it as JPEG or PNG."
        )
    elif _leads_outside(path, root):
        if is_image_by_name:
            found.skip(name, "is a link to a file outside the folder; copy the image instead.")
    elif is_image_by_name or _is_image_by_content(path):
        found.files.append((path, name))
    else:
        found.others[extension] += 1


def _leads_outside(path: str, root: str) -> bool:
    if not os.path.islink(path):
        return False
    return os.path.commonpath([os.path.realpath(path), root]) != root


def _is_image_by_content(path: str) -> bool:
    if not os.path.isfile(path):  # opening a pipe would block
        return False
    try:
        with open(path, "rb") as stream:
            return format_of(stream.read(HEAD)) is not None
    except OSError:
        return False
