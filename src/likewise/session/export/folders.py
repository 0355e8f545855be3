"""Export groups as folders of images."""

import errno
import os
import re
import shutil
import unicodedata
from collections.abc import Callable, Collection
from os import PathLike
from pathlib import Path

from likewise.errors import ImageError, InvalidParameterError, SessionError, UnknownNameError
from likewise.session.assignments import Assignment, assignments, mark_unsure
from likewise.session.atomic import disk_errors, hidden_name, limit_permissions, make_folder
from likewise.session.export.formats import Exported, not_present
from likewise.session.session import Session
from likewise.session.validation import path_below
from likewise.types import Progress, silent

_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_MAX_BYTES = 200  # of a name; most file systems allow 255, minus a number and an extension
_MAX_FOLDERS = 1000  # with the same name and a number


def export_folders(
    session: Session,
    target: str | PathLike[str],
    criterion: str = "",
    *,
    how: str = "copy",
    unsure_below: float = 0.0,
    tags: bool = False,
    groups: Collection[str] = (),
    progress: Progress = silent,
) -> Exported:
    """Copy or link the images of each group into one folder per group; originals are kept.

    Parameters
    ----------
    session : Session
    target : path
        A folder that does not exist or is empty, outside the image folder. It is
        written under a temporary name and renamed at the end.
    criterion : str
        May be omitted if there is only one.
    how : {"copy", "symlink", "hardlink"}
    unsure_below : float
        As in `export_csv`; adds a folder ``unsure``.
    tags : bool
        Embed the group as a keyword in copies of JPEG and PNG images; see `with_keyword`.
    groups : collection of str
        Names or keys of the groups to export; empty: all.
    progress : Progress
        Called with the number of images written so far.

    Returns
    -------
    exported : Exported
        Images that disappeared in the meantime are left out and listed.

    Raises
    ------
    SessionError
        If the criterion has no results yet, the images are not files, `target`
        is not empty or inside the image folder, or it cannot be written.
    """
    target = Path(target).absolute()
    if how not in _METHODS:
        raise UnknownNameError("way to export folders", how, _METHODS)
    if tags and how != "copy":
        raise InvalidParameterError(
            f"Keywords are written only into copies, never into originals; got how={how!r}, use "
            "how='copy', or sidecar files (--to xmp)."
        )
    root = session.root
    if root is None:
        raise SessionError(
            "The images of this session are not files, so they cannot be exported to folders; "
            "export a CSV table instead."
        )
    _check_outside(target, root)
    _check_free(target)
    rows = mark_unsure(assignments(session, criterion, groups), unsure_below)
    with disk_errors(target):
        temporary = hidden_name(target)
        make_folder(temporary)
        try:
            failed = _fill(temporary, root, rows, _METHODS[how], progress)
            if tags:
                failed += _tag_copies(temporary, session.criterion(criterion).name)
            if how != "hardlink":  # whose permissions are those of the original
                limit_permissions(temporary, temporary.stat().st_mode)
            os.rename(temporary, target)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    n_written = sum(1 for _ in target.glob("*/*"))
    return Exported(n_written, (*not_present(session), *failed))


def export_beside(
    session: Session, criterion: str, how: str, groups: Collection[str] = ()
) -> tuple[Path, Exported]:
    """Export into a new folder next to the image folder; return its path and the result.

    Raises
    ------
    SessionError
        If the criterion has no results yet, the images are not files, or the
        folder cannot be written.
    """
    root = session.root
    if root is None:
        raise SessionError("The images of this session are not files; export a table instead.")
    if not root.is_dir():
        raise SessionError(f"{root} does not exist; restore it first, or export a table.")
    target = free_folder(root, session.criterion(criterion).name)
    return target, export_folders(session, target, criterion, how=how, groups=groups)


def free_folder(root: Path, criterion: str) -> Path:
    """Return a folder next to `root` that does not exist yet: ``photos by season``."""
    name = safe_name(f"{root.name} by {criterion}")
    folders = (root.with_name(f"{name} {n}" if n > 1 else name) for n in range(1, _MAX_FOLDERS))
    folder = next((one for one in folders if not one.exists()), None)
    if folder is None:
        raise SessionError(f"{_MAX_FOLDERS} folders named {name!r} already exist; delete some.")
    return folder


def _fill(
    target: Path,
    root: Path,
    rows: list[Assignment],
    write: Callable[[Path, Path], None],
    progress: Progress,
) -> list[tuple[str, str]]:
    """Write every image to the folder of its group; return those that failed."""
    folders: dict[tuple[int, str], tuple[Path, UniqueNames]] = {}
    folder_names, failed = UniqueNames(), []
    for n_done, row in enumerate(rows, start=1):
        group = row.cluster, row.name  # bad, unseen and unsure images all have cluster -1
        if group not in folders:
            folder = target / folder_names.add(row.name or f"group {row.cluster + 1}")
            folder.mkdir()
            folders[group] = folder, UniqueNames()
        folder, names = folders[group]
        source = root / row.path
        if not _is_below(root, row.path):
            failed.append((row.path, "is outside of the image folder"))
        elif source.is_file() and os.access(source, os.R_OK):
            write(source, folder / names.add(source.name))
        else:
            failed.append((row.path, "no longer exists, or may not be read"))
        progress(n_done, len(rows))
    return failed


def _tag_copies(folder: Path, by: str) -> list[tuple[str, str]]:
    """Embed the name of its folder as a keyword in each copy; return those without one."""
    from likewise.session.export.xmp import with_keyword

    failed = []
    for path in sorted(folder.glob("*/*")):
        status = path.stat()
        try:
            path.write_bytes(with_keyword(path.read_bytes(), path.parent.name, by))
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        except ImageError as error:
            failed.append((path.name, f"has no keyword: it {error}"))
    return failed


def _is_below(root: Path, name: str) -> bool:
    try:
        path_below(root, name)
    except ImageError:
        return False
    return True


def _copy(source: Path, target: Path) -> None:
    shutil.copy2(source, target)


def _symlink(source: Path, target: Path) -> None:
    target.symlink_to(source.resolve())


def _hardlink(source: Path, target: Path) -> None:
    try:
        os.link(source.resolve(), target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP):
            raise
        raise SessionError(
            f"{source} cannot be hard-linked from {target.parent.parent.parent} "
            f"({error.strerror}): both must be on one file system that supports hard links; choose "
            "copy or symlink."
        ) from error


_METHODS: dict[str, Callable[[Path, Path], None]] = {
    "copy": _copy,
    "symlink": _symlink,
    "hardlink": _hardlink,
}


def _check_outside(target: Path, root: Path) -> None:
    """Raise if the target is inside the image folder: its copies would be found as new images."""
    if target.resolve().is_relative_to(root.resolve()):
        beside = root.with_name(f"{root.name} sorted")
        raise SessionError(
            f"{target} is inside {root}, the image folder, so its copies would be found as new "
            f"images; choose a folder outside it (-o), such as {str(beside)!r}."
        )


def _check_free(target: Path) -> None:
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise SessionError(
            f"{target} is not an empty folder and was not changed; choose a new folder, or empty "
            "this one."
        )
    if not target.parent.is_dir():
        raise SessionError(
            f"{target} cannot be created: {target.parent} is not a folder; create it first."
        )


class UniqueNames:
    """Makes file names unique within one folder, also on case-insensitive file systems.

    Examples
    --------
    >>> names = UniqueNames()
    >>> names.add("a.jpg"), names.add("A.jpg"), names.add("who/am:I?"), names.add("..")
    ('a.jpg', 'A (2).jpg', 'who_am_I_', '_')
    """

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def add(self, wanted: str) -> str:
        """Return `wanted` as a safe name, with a number if it was returned before."""
        plain = name = safe_name(wanted)
        stem, dot, extension = plain.rpartition(".")
        while _folded(name) in self._used:
            number = self._next.get(_folded(plain), 2)
            self._next[_folded(plain)] = number + 1
            name = f"{stem} ({number}).{extension}" if stem and dot else f"{plain} ({number})"
        self._used.add(_folded(name))
        return name


def safe_name(wanted: str) -> str:
    """Return a file name that is valid on every common file system.

    Not `pathvalidate`: it changes more than necessary (``lpt1.txt``, surrogates)
    and truncates without keeping the extension.
    """
    name = _FORBIDDEN.sub("_", wanted).strip(" ").rstrip(".")
    if not name or _DEVICES.fullmatch(name):
        name = f"_{name}"
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension) > 10:
        stem, dot, extension = name, "", ""
    room = _MAX_BYTES - len(_bytes(extension))
    if len(_bytes(stem)) > room:
        stem = _bytes(stem)[:room].decode("utf-8", "ignore")
    return stem + dot + extension


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _folded(name: str) -> str:
    """Return a form that is equal for names that some file systems do not distinguish."""
    return unicodedata.normalize("NFC", name).casefold()
