"""Make the folder of a new session: whole, or not at all."""

import os
import shutil
import tempfile
from pathlib import Path

from likewise.errors import CollectionError, SessionError
from likewise.images.collection import ImageCollection
from likewise.session.images import Images, to_blob, to_text
from likewise.session.store import DATABASE, Store, begin_store
from likewise.session.words import in_words

EMBEDDINGS, MODELS, THUMBNAILS = "embeddings", "models", "thumbnails"


def begin_folder(path: Path, collection: ImageCollection, root: Path | None) -> None:
    """Write a session of all images of `collection` and no answers to `path`.

    It is made under another name and then renamed, so that a crash leaves no
    half session behind.
    """
    if not len(collection):
        raise CollectionError("The collection is empty; give at least one picture.")
    check_free(path)
    with in_words(path):
        fresh = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        try:
            _fill(fresh, path, collection, root or default_root(collection))
            fresh.chmod(0o755)
            os.rename(fresh, path)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        _sync(path.parent)


def _fill(fresh: Path, path: Path, collection: ImageCollection, root: Path | None) -> None:
    for name in (EMBEDDINGS, MODELS, THUMBNAILS):
        (fresh / name).mkdir()
    begin_store(fresh)
    store = Store(fresh, write=True)
    try:
        store.rows("PRAGMA synchronous = OFF")  # nobody relies on it yet: one sync at the end
        Images(store).sync(collection, root)
        write_root(store, path, root)
    finally:
        store.close()
    _sync(fresh / DATABASE)
    _sync(fresh)


def default_root(collection: ImageCollection) -> Path | None:
    """Return the folder the names in a collection are relative to, if they are files."""
    folder = getattr(collection, "folder", None)
    if folder is not None:
        return Path(folder).absolute()
    return Path.cwd() if hasattr(collection, "path") else None


def write_root(store: Store, session: Path, root: Path | None) -> None:
    """Note where the pictures are; relative to the session where both may move together."""
    if root is None:
        return
    root, home = root.absolute(), session.absolute().parent
    place = os.path.relpath(root, home) if root.is_relative_to(home) else str(root)
    with store.transaction() as db:
        db.execute("REPLACE INTO fact VALUES ('root', ?)", (to_blob(place),))


def read_root(store: Store, session: Path) -> Path | None:
    """Return where the pictures are, or None if they are not files."""
    rows = store.rows("SELECT value FROM fact WHERE name = 'root'")
    return session.absolute().parent / to_text(rows[0][0]) if rows else None


def check_free(path: Path) -> None:
    """Refuse a place where no session can begin.

    Raises
    ------
    SessionError
    """
    if path.exists():
        raise SessionError(
            f"{path} already exists, so no new session was put there; open it, or choose another "
            "name."
        )
    if not path.parent.is_dir():
        raise SessionError(
            f"{path} cannot be made: {path.parent} is not a folder; make it first, or choose "
            "another place."
        )
    if not os.access(path.parent, os.W_OK):
        raise SessionError(
            f"{path} cannot be made: {path.parent} is read-only for you; have the session "
            "elsewhere with --session PATH."
        )


def _sync(path: Path) -> None:
    """Make a file, or the names in a folder, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
