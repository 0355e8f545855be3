"""Read a folder of pictures, nested as it may be."""

from collections import Counter
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from likewise.errors import CollectionError
from likewise.images.files import FileCollection
from likewise.images.formats import FORMATS_READ
from likewise.images.scan import Found, Known, scan
from likewise.images.skipped import Skipped, summary
from likewise.images.walk import Walk, walk
from likewise.progress import Progress, silent


class FolderCollection(FileCollection):
    """The pictures below a folder, ordered by their path in it; made by `read_folder`.

    Attributes
    ----------
    folder : Path
    skipped : list of Skipped
    duplicates : list of lists of int
    """

    def __init__(self, folder: Path, found: Sequence[Found], skipped: Sequence[Skipped]) -> None:
        super().__init__(found, skipped)
        self.folder = folder


def read_folder(
    path: str | PathLike[str], progress: Progress = silent, known: Known | None = None
) -> FolderCollection:
    """Find and check all pictures below a folder.

    Hidden files and folders, and sessions of ours (``*.likewise``), are passed
    over. Links are not followed out of the folder. Pictures that cannot be
    decoded are left out and listed.

    Parameters
    ----------
    path : path
    progress : Progress
        Told how many files were looked at.
    known : mapping, optional
        Files of an earlier time, (name, size, mtime in ns) to content hash; those that have not
        changed since are not opened again.

    Returns
    -------
    collection : FolderCollection

    Raises
    ------
    CollectionError
        If there is no such folder, or no picture in it that can be read.
    """
    folder = Path(path).expanduser()
    _check_folder(folder)
    seen = walk(folder)
    if not seen.files:
        raise CollectionError(_nothing_there(folder, seen))
    results = scan(seen.files, progress, known)
    found = [one for one in results if isinstance(one, Found)]
    broken = [one for one in results if isinstance(one, Skipped)]
    if not found:
        raise CollectionError(
            f"None of the {len(broken)} pictures in {str(folder)!r} can be read; "
            f"replace them, or choose another folder.\n{summary(broken)}"
        )
    skipped = sorted([*seen.skipped, *broken], key=lambda one: one.name)
    return FolderCollection(folder, found, skipped)


def _check_folder(folder: Path) -> None:
    if not folder.exists():
        raise CollectionError(f"The folder {str(folder)!r} does not exist; check its name.")
    if not folder.is_dir():
        raise CollectionError(
            f"{str(folder)!r} is a file, not a folder; give the folder it lies in, "
            "or a list of paths."
        )


def _nothing_there(folder: Path, seen: Walk) -> str:
    advice = f"choose a folder with pictures ({FORMATS_READ})."
    if seen.skipped:
        return f"No picture in {str(folder)!r} can be read; {advice}\n{summary(seen.skipped)}"
    if not seen.others:
        return f"The folder {str(folder)!r} is empty; {advice}"
    return f"The folder {str(folder)!r} holds {_kinds(seen.others)}, but no picture; {advice}"


def _kinds(extensions: Counter[str]) -> str:
    n_files = extensions.total()
    kinds = ", ".join(f"{n} {kind or 'without ending'}" for kind, n in extensions.most_common(4))
    more = ", …" if len(extensions) > 4 else ""
    return f"{n_files} other file{'s' * (n_files > 1)} ({kinds}{more})"
