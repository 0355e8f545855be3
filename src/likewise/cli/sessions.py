"""Shared steps of the commands: find and open a session, read image folders, embed images."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.cli.console import ProgressBars, count_noun, print_note, print_note_list
from likewise.errors import CollectionError, SessionBusyError, SessionError

if TYPE_CHECKING:
    from likewise.embedding.cache import EmbeddingCache
    from likewise.embedding.embeddings import Embeddings
    from likewise.images.collection import ImageCollection, Skipped
    from likewise.images.files import FolderCollection
    from likewise.images.find_files import Known
    from likewise.session.session import Session

_ORIGIN = ".copied-from"  # file in a folder of copies, with the archive or address they are from


def local_images(source: str) -> Path:
    """Return the folder or table of images that `source` refers to.

    The images of an archive or an address are copied to a new folder: next to the archive, or
    in the working directory. The next call copies only what is new.

    Raises
    ------
    CollectionError
        If the source cannot be read, or the folder has other content.
    """
    from likewise.images.encoded import copy_to_folder, is_address, read_address, read_zip

    path = Path(source).expanduser()
    is_archive = path.suffix.lower() == ".zip" and not path.is_dir()
    if not is_address(source) and not is_archive:
        return path
    last = source.rstrip("/").rpartition("/")[2].partition("?")[0]
    target = path.with_suffix("") if is_archive else Path(last.removesuffix(".zip") or "images")
    origin = target / _ORIGIN
    if target.exists() and not (origin.is_file() and origin.read_text("utf-8") == source):
        raise CollectionError(
            f"The images of {source} would be copied to {str(target)!r}, which exists; rename that "
            "folder, or run the command in another one."
        )
    with ProgressBars() as bars:
        progress = bars.step("reading images")
        collection = (
            read_zip(path, progress=progress) if is_archive else read_address(source, progress)
        )
        print_note(f"Copying {count_noun(len(collection), 'image')} of {source} to {target}")
        target.mkdir(parents=True, exist_ok=True)
        origin.write_text(source, "utf-8")
        copy_to_folder(collection, target, bars.step("copying images"))
    print_skipped(collection.skipped)
    return target


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
        from likewise.server.serve import is_open, load_address

        page = load_address(path)
        if page is None or not is_open(page):
            raise
        raise SessionBusyError(
            f"{given or path} is already open in another process, and its page is "
            f"{page.url} ; continue there, or stop that process with Ctrl+C first."
        ) from error


def session_of_vectors(place: str) -> Path:
    """Return the default session of vectors; those at an address have it in this folder."""
    from likewise.images.encoded import is_address
    from likewise.session.create import default_session_path

    if is_address(place):
        return Path(place.rstrip("/").rpartition("/")[2] or "vectors").with_suffix(".likewise")
    return default_session_path(Path(place))


def open_vectors(place: str, path: Path, pictures: str | None, sample: int | None) -> "Session":
    """Create the session of a sample of vectors, or open it."""
    from likewise.embedding.vector_source import VectorSource
    from likewise.images.encoded import is_address
    from likewise.images.find_files import checked_folder
    from likewise.session.create import check_can_create
    from likewise.session.database import DATABASE
    from likewise.workspace.vector_session import SAMPLE, create_vector_session, restore_vectors

    root = None
    if pictures is not None and not is_address(pictures):
        root = checked_folder(Path(pictures).expanduser()).absolute()
    if (path / DATABASE).exists():
        opened = open_to_write(path, path)
        try:
            restore_vectors(opened, place)
        except BaseException:
            opened.close()
            raise
        return opened
    check_can_create(path)
    source = VectorSource(place)
    opened = create_vector_session(path, source, sample or SAMPLE, root)
    n_sampled = len(opened.images)
    if n_sampled < source.n_rows:
        print_note(
            f"The session has a random sample of {n_sampled:,} of "
            f"{count_noun(source.n_rows, 'vector')}; `likewise predict {path} {place}` "
            "assigns all of them to groups."
        )
    return opened


def check_words(words: str | None, encoder: str) -> None:
    """Raise if --words is not valid, or the encoder does not know text."""
    from likewise.embedding.registry import knows_text
    from likewise.embedding.words import as_words, no_text_error

    if words is not None and as_words(words) and not knows_text(encoder):
        raise no_text_error(encoder)


def name_groups(session: "Session", by: str, words: str | None) -> None:
    """Make groups named by --words; a criterion that has groups keeps them."""
    from likewise.embedding.words import as_words

    wanted = as_words(words)
    known = {group.name for group in session.groups(by).all()}
    if wanted and not known:
        session.make_groups(by, wanted)
    elif not known >= {*wanted}:
        print_note(f"Note: {by!r} has groups, so --words makes no others; rename them on the page.")


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
    from likewise.session.create import default_session_path
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
    folder: Path,
    bars: "ProgressBars",
    known: "Known | None" = None,
    *,
    minimum: int = 0,
    seconds: float | None = None,
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
    seconds : float, optional
        Time after which the other files are left unread; see `read_folder`.

    Raises
    ------
    CollectionError
    """
    from likewise.images.as_collection import read_local

    collection = read_local(folder, bars.step("reading images"), known, seconds=seconds)
    print_skipped(collection.skipped)
    if len(collection) < minimum:
        raise CollectionError(
            f"The folder {str(folder)!r} must contain at least {minimum} images, got "
            f"{len(collection)}; add images, or choose another folder."
        )
    return collection


def embedding_cache() -> "EmbeddingCache | None":
    """Return the embedding cache of the user; None, with a note, if it cannot be written."""
    from likewise.embedding.cache import user_cache
    from likewise.operating_system import default_cache_folder

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
