"""Create the folder of a new session, and store where its images are."""

import os
import shutil
import tempfile
from pathlib import Path

from likewise.errors import CollectionError, SessionError
from likewise.images.collection import ImageCollection
from likewise.session.atomic import disk_errors, make_folder
from likewise.session.database import DATABASE, Database, create_database
from likewise.session.images import Images, to_blob, to_text

EMBEDDINGS, MODELS, THUMBNAILS = "embeddings", "models", "thumbnails"


def create_folder(path: Path, collection: ImageCollection, root: Path | None) -> None:
    """Write a session with all images of `collection` and no answers to `path`.

    It is written to a temporary folder and then renamed, so that a crash leaves
    no incomplete session.
    """
    if not len(collection):
        raise CollectionError("The collection is empty; it must contain at least one image.")
    check_can_create(path)
    with disk_errors(path):
        fresh = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        try:
            _fill(fresh, path, collection, root or default_root(collection))
            os.rename(fresh, path)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        _fsync(path.parent)


def _fill(fresh: Path, path: Path, collection: ImageCollection, root: Path | None) -> None:
    for name in (EMBEDDINGS, MODELS, THUMBNAILS):
        make_folder(fresh / name)
    create_database(fresh)
    database = Database(fresh, write=True)
    try:
        database.rows("PRAGMA synchronous = OFF")  # synced once at the end
        Images(database).sync(collection, root)
        write_root(database, path, root)
    finally:
        database.close()
    _fsync(fresh / DATABASE)
    _fsync(fresh)


def default_root(collection: ImageCollection) -> Path | None:
    """Return the folder that the names in a collection are relative to; None if not files."""
    folder = getattr(collection, "folder", None)
    if folder is not None:
        return Path(folder).absolute()
    return Path.cwd() if hasattr(collection, "path") else None


def write_root(database: Database, session: Path, root: Path | None) -> None:
    """Store the image folder, relative to the session if it is in the same parent folder."""
    if root is None:
        return
    root, home = root.absolute(), session.absolute().parent
    place = os.path.relpath(root, home) if root.is_relative_to(home) else str(root)
    with database.transaction() as db:
        db.execute("REPLACE INTO fact VALUES ('root', ?)", (to_blob(place),))


def read_root(database: Database, session: Path) -> Path | None:
    """Return the image folder, or None if the images are not files."""
    rows = database.rows("SELECT value FROM fact WHERE name = 'root'")
    return session.absolute().parent / to_text(rows[0][0]) if rows else None


def check_can_create(path: Path) -> None:
    """Raise if no session can be created at `path`.

    Raises
    ------
    SessionError
    """
    if path.exists():
        raise SessionError(f"{path} already exists; open it, or choose another name.")
    if not path.parent.is_dir():
        raise SessionError(
            f"{path} cannot be created: {path.parent} is not a folder; create it first, or choose "
            "another path."
        )
    if not os.access(path.parent, os.W_OK):
        raise SessionError(
            f"{path} cannot be created: {path.parent} is read-only for you; choose another "
            "path with --session PATH."
        )


def _fsync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
