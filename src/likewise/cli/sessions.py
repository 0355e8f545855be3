"""Opening sessions and reading image folders for the commands."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.cli.console import note, note_list
from likewise.errors import CollectionError, SessionBusyError, SessionError

if TYPE_CHECKING:
    from likewise.cli.console import Bars
    from likewise.embedding.cache import EmbeddingCache
    from likewise.embedding.embeddings import Embeddings
    from likewise.images.collection import ImageCollection
    from likewise.images.files import FolderCollection
    from likewise.images.unreadable import Skipped
    from likewise.images.validate_files import Known
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
    from likewise.session.database import DATABASE

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


def read(folder: Path, bars: "Bars", known: "Known | None" = None) -> "FolderCollection":
    """Return the pictures of a folder; what is left out is listed on stderr.

    Files that are `known` and have not changed since are not opened again.
    """
    from likewise.images.files import read_folder

    collection = read_folder(folder, bars.step("reading pictures"), known)
    report(collection.skipped)
    return collection


def read_several(folder: Path, bars: "Bars", known: "Known | None" = None) -> "FolderCollection":
    """Return the pictures of a folder that must hold enough of them to be sorted."""
    collection = read(folder, bars, known)
    if len(collection) < 2:
        raise CollectionError(
            f"The folder {str(folder)!r} holds one picture only, and there is nothing to sort; "
            "add pictures, or choose another folder."
        )
    return collection


def cache() -> "EmbeddingCache | None":
    """Return where vectors are kept without a session, or nowhere, saying so, if it cannot be."""
    from likewise.embedding.cache import default_cache_folder, user_cache

    store = user_cache()
    if store is None:
        place = default_cache_folder()
        note(f"Note: {place} cannot be written, so vectors are not kept; set LIKEWISE_CACHE.")
    return store


def vectors(
    collection: "ImageCollection", encoder: str, store: "EmbeddingCache | None", bars: "Bars"
) -> "Embeddings":
    """Return the vectors of a collection, kept in `store` for the next time."""
    from likewise.embedding.embed import embed
    from likewise.embedding.registry import make_encoder

    found = embed(collection, make_encoder(encoder), store, bars.step("embedding"))
    report(found.skipped)
    return found


def kept_in(found: "Embeddings", collection: "ImageCollection") -> list[int]:
    """Return the position in the collection of each vector."""
    return list(range(len(collection))) if found.positions is None else found.positions.tolist()


def report(skipped: "list[Skipped] | Any") -> None:
    """List on stderr what was left out."""
    note_list(f"{len(skipped):,} left out:", skipped)


def as_rows(skipped: "list[Skipped] | Any") -> list[dict[str, str]]:
    """Return what was left out, for JSON."""
    return [{"name": one.name, "reason": one.reason} for one in skipped]
