"""Groups out of the session: a table, or folders of pictures; every answer that stands holds."""

import csv
import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO

from likewise.errors import SessionError, UnknownNameError
from likewise.progress import Progress, silent
from likewise.session.assignments import Assignment, assignments, set_unsure_aside
from likewise.session.atomic import write_new
from likewise.session.names import FreeNames
from likewise.session.session import Session
from likewise.session.words import in_words

COLUMNS = ("path", "cluster", "name", "confidence", "answered")


@dataclass(frozen=True)
class Exported:
    """What was written, and what was not.

    Parameters
    ----------
    n_written : int
    left_out : tuple of (str, str)
        The path of each picture that was not written, and why.
    """

    n_written: int
    left_out: tuple[tuple[str, str], ...]


def export_csv(
    session: Session,
    path: str | PathLike[str],
    orientation: str = "",
    *,
    unsure_below: float = 0.0,
) -> Exported:
    """Write a new table with one line for each picture that is there.

    Pictures in no answer whose confidence is less than `unsure_below` are in the group
    ``unsure``, cluster -1.

    Raises
    ------
    InvalidParameterError
        If `unsure_below` is no probability.
    SessionError
        If nothing was trained yet, the file exists, or it cannot be written.
    """
    rows = set_unsure_aside(assignments(session, orientation), unsure_below)

    def write(stream: IO[str]) -> None:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(_cells(row) for row in rows)

    write_new(Path(path), write)
    return Exported(len(rows), _not_there(session))


def _cells(row: Assignment) -> tuple[object, ...]:
    answered = "true" if row.answered else "false"
    return row.path, row.cluster, row.name, f"{row.confidence:.4f}", answered


def _not_there(session: Session) -> tuple[tuple[str, str], ...]:
    images = session.images
    pairs = zip(images.names, images.status, strict=True)
    return tuple((name, f"is {status}") for name, status in pairs if status != "present")


def export_folders(
    session: Session,
    target: str | PathLike[str],
    orientation: str = "",
    *,
    how: str = "copy",
    unsure_below: float = 0.0,
    progress: Progress = silent,
) -> Exported:
    """Put the pictures of each group into a folder of their own; the originals stay.

    Parameters
    ----------
    session : Session
    target : path
        A folder that does not exist yet or is empty, outside that of the pictures. It is filled
        under another name first, so that it is there whole or not at all.
    orientation : str
        May be left out if there is only one.
    how : {"copy", "symlink", "hardlink"}
    unsure_below : float
        As in `export_csv`: a folder ``unsure``.
    progress : Progress
        Told how many pictures are there.

    Returns
    -------
    exported : Exported
        Pictures that vanished meanwhile are left out and listed.

    Raises
    ------
    SessionError
        If nothing was trained yet, the pictures are not files, `target` is in
        use or among the pictures, or the disk cannot hold it.
    """
    target = Path(target).absolute()
    if how not in _WAYS:
        raise UnknownNameError("way to export folders", how, _WAYS)
    if session.root is None:
        raise SessionError(
            "The pictures of this session are not files, so there is nothing to put into folders; "
            "export a CSV table instead."
        )
    _check_outside(target, session.root)
    _check_free(target)
    rows = set_unsure_aside(assignments(session, orientation), unsure_below)
    with in_words(target):
        fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            failed = _fill(fresh, session.root, rows, _WAYS[how], progress)
            fresh.chmod(0o755)
            os.rename(fresh, target)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    return Exported(len(rows) - len(failed), (*_not_there(session), *failed))


def _fill(
    fresh: Path,
    root: Path,
    rows: list[Assignment],
    put: Callable[[Path, Path], None],
    progress: Progress,
) -> list[tuple[str, str]]:
    """Put every picture into the folder of its group; return those that could not be."""
    folders: dict[tuple[int, str], tuple[Path, FreeNames]] = {}
    folder_names, failed = FreeNames(), []
    for n_done, row in enumerate(rows, start=1):
        group = row.cluster, row.name  # bad, unseen and unsure ones are all of cluster -1
        if group not in folders:
            folder = fresh / folder_names.take(row.name or f"group {row.cluster + 1}")
            folder.mkdir()
            folders[group] = folder, FreeNames()
        folder, names = folders[group]
        source = root / row.path
        if source.is_file() and os.access(source, os.R_OK):
            put(source, folder / names.take(source.name))
        else:
            failed.append((row.path, "is no longer there, or may not be read"))
        progress(n_done, len(rows))
    return failed


def _copy(source: Path, place: Path) -> None:
    shutil.copy2(source, place)


def _symlink(source: Path, place: Path) -> None:
    place.symlink_to(source.resolve())


def _hardlink(source: Path, place: Path) -> None:
    try:
        os.link(source.resolve(), place)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP):
            raise
        raise SessionError(
            f"{source} cannot be hard-linked from {place.parent.parent.parent} ({error.strerror}): "
            "both must be on one disk that knows hard links; choose copy or symlink."
        ) from error


_WAYS: dict[str, Callable[[Path, Path], None]] = {
    "copy": _copy,
    "symlink": _symlink,
    "hardlink": _hardlink,
}


def _check_outside(target: Path, root: Path) -> None:
    """Refuse a place among the pictures: whoever looks there next would count all of them twice."""
    if target.resolve().is_relative_to(root.resolve()):
        beside = root.with_name(f"{root.name} sorted")
        raise SessionError(
            f"{target} is inside {root}, the folder of the pictures, where the copies would be "
            f"taken for new pictures; choose a place outside it (-o), such as {str(beside)!r}."
        )


def _check_free(target: Path) -> None:
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise SessionError(
            f"{target} is already in use and nothing in it was touched; choose a new folder, or "
            "empty this one."
        )
    if not target.parent.is_dir():
        raise SessionError(
            f"{target} cannot be made: {target.parent} is not a folder; make it first."
        )
