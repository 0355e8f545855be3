"""Pictures sorted into folders beside the collection, at the wish of somebody on the page."""

from pathlib import Path

from likewise.errors import SessionError
from likewise.session.export import Exported, export_folders
from likewise.session.names import fit_name
from likewise.session.session import Session

_MOST = 1000  # folders of one name


def sort_into_folders(session: Session, orientation: str, how: str) -> tuple[Path, Exported]:
    """Put the pictures into a new folder beside theirs, which nobody else names.

    Raises
    ------
    SessionError
        If nothing was trained yet, the pictures are not files, or the disk cannot hold it.
    """
    root = session.root
    if root is None:
        raise SessionError("The pictures of this session are not files; export a table instead.")
    if not root.is_dir():
        raise SessionError(f"{root} is not there; bring it back first, or export a table.")
    place = free_place(root, session.orientation(orientation).name)
    return place, export_folders(session, place, orientation, how=how)


def free_place(root: Path, orientation: str) -> Path:
    """Return a folder beside `root` that does not exist yet: ``photos by season``."""
    name = fit_name(f"{root.name} by {orientation}")
    places = (root.with_name(f"{name} {n}" if n > 1 else name) for n in range(1, _MOST))
    place = next((one for one in places if not one.exists()), None)
    if place is None:
        raise SessionError(f"There are {_MOST} folders like {name!r} already; remove some.")
    return place
