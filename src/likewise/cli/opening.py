"""Sessions and folders as commands take them: a page that is open, or one given for the other."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.errors import CollectionError, SessionBusyError, SessionError

if TYPE_CHECKING:
    from likewise.session.session import Session


def beside(folder: Path) -> Path:
    """Return where the session of a folder is by custom: beside it."""
    whole = folder.expanduser().absolute()
    return whole.with_name(f"{whole.name}.likewise")


def open_to_write(path: Path, called: Path | None = None) -> "Session":
    """Open a session for writing; if its page is open already, say where.

    Parameters
    ----------
    path : Path
    called : Path, optional
        What the person gave, if it was not the session itself.

    Raises
    ------
    SessionBusyError, SessionError
    """
    from likewise.session.session import Session

    try:
        return Session.open(path)
    except SessionBusyError as error:
        from likewise.server.door import is_open, last_door

        door = last_door(path)
        if door is None or not is_open(door):
            raise
        raise SessionBusyError(
            f"{called or path} is at work in another process already, and its page is "
            f"{door.address} ; go on there, or end it there with Ctrl+C first."
        ) from error


def check_pictures(folder: Path, command: str, *, takes_session: bool = True) -> None:
    """Refuse a session that was given where a folder of pictures is wanted.

    Parameters
    ----------
    folder : Path
    command : str
        What was typed before the folder: ``"start"``.
    takes_session : bool
        Whether the command has an option ``--session``.

    Raises
    ------
    CollectionError
    """
    from likewise.session.store import DATABASE

    if not (folder.expanduser() / DATABASE).exists():
        return
    root = _pictures_of(folder.expanduser())
    if root is None:
        advice = "give the folder that the pictures are in."
    else:
        words = f"likewise {command} {shlex.quote(str(root))}"
        if takes_session and beside(root) != folder.expanduser().absolute():
            words += f" --session {shlex.quote(str(folder))}"
        advice = f"its pictures are in {root}, so use `{words}`."
    raise CollectionError(f"{folder} is a session, not a folder of pictures; {advice}")


def _pictures_of(session: Path) -> Path | None:
    from likewise.session.session import Session

    try:
        with Session.open(session, write=False) as opened:
            return opened.root
    except SessionError:  # a newer one, or a damaged one
        return None
