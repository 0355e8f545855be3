"""Open sessions, read image folders and embed images for the commands."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.cli.console import print_note, print_note_list
from likewise.errors import CollectionError, SessionBusyError, SessionError

if TYPE_CHECKING:
    from likewise.cli.console import ProgressBars
    from likewise.embedding.cache import EmbeddingCache
    from likewise.embedding.embeddings import Embeddings
    from likewise.images.collection import ImageCollection, Skipped
    from likewise.images.files import FolderCollection
    from likewise.images.find_files import Known
    from likewise.session.session import Session


def default_session_path(folder: Path) -> Path:
    """Return the default session of an image folder: ``FOLDER.likewise`` next to it."""
    absolute = folder.expanduser().absolute()
    return absolute.with_name(f"{absolute.name}.likewise")


def open_to_write(path: Path, given: Path | None = None) -> "Session":
    """Open a session for writing; if its page is open already, the error contains the address.

    Parameters
    ----------
    path : Path
    given : Path, optional
        The path that the person gave, if it was not the session itself.

    Raises
    ------
    SessionBusyError, SessionError
    """
    from likewise.session.session import Session

    try:
        return Session.open(path)
    except SessionBusyError as error:
        from likewise.server.page_address import is_open, load_address

        page = load_address(path)
        if page is None or not is_open(page):
            raise
        raise SessionBusyError(
            f"{given or path} is already open in another process, and its page is "
            f"{page.url} ; continue there, or stop that process with Ctrl+C first."
        ) from error


def check_image_folder(folder: Path, command: str, *, takes_session: bool = True) -> None:
    """Check that a folder of images was given and not a session.

    Parameters
    ----------
    folder : Path
    command : str
        The command line before the folder: ``"start"``.
    takes_session : bool
        Whether the command has an option ``--session``.

    Raises
    ------
    CollectionError
    """
    from likewise.session.database import DATABASE

    if not (folder.expanduser() / DATABASE).exists():
        return
    root = _image_folder_of(folder.expanduser())
    if root is None:
        advice = "give the folder that contains the images."
    else:
        corrected = f"likewise {command} {shlex.quote(str(root))}"
        if takes_session and default_session_path(root) != folder.expanduser().absolute():
            corrected += f" --session {shlex.quote(str(folder))}"
        advice = f"its images are in {root}, so use `{corrected}`."
    raise CollectionError(f"{folder} is a session, not a folder of images; {advice}")


def _image_folder_of(session: Path) -> Path | None:
    """Return the image folder of a session, or None if the session cannot be read."""
    from likewise.session.session import Session

    try:
        with Session.open(session, write=False) as opened:
            return opened.root
    except SessionError:  # written by a newer release, or damaged
        return None


def read_images(
    folder: Path, bars: "ProgressBars", known: "Known | None" = None, *, minimum: int = 0
) -> "FolderCollection":
    """Return the images of a folder; skipped files are listed on stderr.

    Parameters
    ----------
    folder : Path
    bars : ProgressBars
    known : mapping, optional
        Files that were read before; those that have not changed are not opened again.
    minimum : int
        Number of images that the folder must contain.

    Raises
    ------
    CollectionError
    """
    from likewise.images.files import read_folder

    collection = read_folder(folder, bars.step("reading images"), known)
    print_skipped(collection.skipped)
    if len(collection) < minimum:
        raise CollectionError(
            f"The folder {str(folder)!r} must contain at least {minimum} images, got "
            f"{len(collection)}; add images, or choose another folder."
        )
    return collection


def embedding_cache() -> "EmbeddingCache | None":
    """Return the embedding cache of the user; None, with a note, if it cannot be written."""
    from likewise.embedding.cache import default_cache_folder, user_cache

    store = user_cache()
    if store is None:
        place = default_cache_folder()
        print_note(
            f"Note: {place} cannot be written, so embeddings are not cached; set LIKEWISE_CACHE "
            "to another folder."
        )
    return store


def embed_images(
    collection: "ImageCollection",
    encoder: str,
    store: "EmbeddingCache | None",
    bars: "ProgressBars",
) -> "Embeddings":
    """Return the embeddings of a collection; they are cached in `store` if there is one."""
    from likewise.embedding.embed import embed
    from likewise.embedding.registry import make_encoder

    embeddings = embed(collection, make_encoder(encoder), store, bars.step("embedding"))
    print_skipped(embeddings.skipped)
    return embeddings


def embedded_positions(embeddings: "Embeddings", collection: "ImageCollection") -> list[int]:
    """Return the index in the collection of each embedding."""
    positions = embeddings.positions
    return list(range(len(collection))) if positions is None else positions.tolist()


def print_skipped(skipped: "Sequence[Skipped]") -> None:
    """List skipped files on stderr."""
    print_note_list(f"{len(skipped):,} skipped:", skipped)


def skipped_as_json(skipped: "Sequence[Skipped]") -> list[dict[str, str]]:
    """Return skipped files as JSON."""
    return [{"name": one.name, "reason": one.reason} for one in skipped]
