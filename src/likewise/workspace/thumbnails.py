"""Thumbnails and display copies of the images as WebP files, without metadata."""

import os
from collections.abc import Sequence
from pathlib import Path
from threading import BoundedSemaphore

from likewise.errors import CollectionError, InvalidParameterError
from likewise.images.collection import Pixels
from likewise.images.files import FileCollection
from likewise.images.find_files import ImageFile
from likewise.images.resize import thumbnail
from likewise.session.atomic import create_file, hidden_name, make_folder
from likewise.session.create import THUMBNAILS
from likewise.session.session import Session
from likewise.session.validation import path_below
from likewise.workspace.vector_session import PicturesByName, pictures_of

SMALL, LARGE = 256, 1600  # the longer side in pixels
_MAX_DECODING = 2  # images decoded at a time, so that answers never wait for them


class SessionFiles(FileCollection):
    """Image files of a session; a file outside of the image folder is not read."""

    def __init__(self, files: Sequence[ImageFile], root: Path) -> None:
        super().__init__(files, [])
        self._root = root

    def pixels(self, index: int, *, at_least: int | None = None) -> Pixels:
        """Return an image, as `FileCollection.pixels` does."""
        path_below(self._root, self.name(index))
        return super().pixels(index, at_least=at_least)


def image_files(session: Session, positions: Sequence[int]) -> FileCollection:
    """Return the files at `positions` of a session, as they were at its last scan.

    Raises
    ------
    CollectionError
        If the images of the session are not files.
    """
    root, images = session.root, session.images
    if root is None:
        raise CollectionError(
            "This session was not created from image files, so it has no images to show; create "
            "a session from a folder with `likewise start FOLDER`."
        )
    known = {(name, content): (n, at) for (name, n, at), content in images.known_files.items()}
    files = []
    for i in positions:
        name, content = images.names[i], images.hashes[i]
        n_bytes, changed_at = known.get((name, content), (-1, -1))
        files.append(ImageFile(str(root / name), name, content, n_bytes, changed_at))
    return SessionFiles(files, root)


class Thumbnails:
    """Re-encodes the images of a session; thread-safe.

    Parameters
    ----------
    session : Session
    source : str, optional
        Of a session of vectors: folder or address of the images.
    """

    def __init__(self, session: Session, source: str | None = None) -> None:
        self._session, self._source = session, source
        self.refresh()
        self._folder = session.path / THUMBNAILS
        self._slots = BoundedSemaphore(_MAX_DECODING)

    def refresh(self) -> None:
        """Read the list of images again, after some were added or renamed."""
        self._files: FileCollection | PicturesByName = pictures_of(
            self._session, self._source
        ) or image_files(self._session, range(len(self._session.images)))

    def image(self, position: int) -> bytes:
        """Return an image as a WebP file, large enough to answer questions about it.

        Raises
        ------
        InvalidParameterError
            If there is no such image.
        ImageError
            If its file is missing, has changed or cannot be decoded.
        """
        return self._encode(position, LARGE, quality=88)

    def thumbnail(self, position: int) -> bytes:
        """Return a small copy of an image, which is cached in the session folder."""
        self._check(position)
        path = self._folder / f"{self._files.identity(position)}.webp"
        try:
            return path.read_bytes()
        except OSError:
            content = self._encode(position, SMALL, quality=80)
        _cache(path, content)
        return content

    def _encode(self, position: int, side: int, quality: int) -> bytes:
        self._check(position)
        with self._slots:
            pixels = self._files.pixels(position, at_least=side)
            return thumbnail(pixels, side, quality=quality)

    def _check(self, position: int) -> None:
        if not 0 <= position < len(self._files):
            raise InvalidParameterError(
                f"Image {position} is not in this session; images are numbered 0 to "
                f"{len(self._files) - 1}."
            )


def _cache(path: Path, content: bytes) -> None:
    """Write a thumbnail if possible; without fsync and errors, since it can be computed again."""
    fresh = hidden_name(path)
    try:
        make_folder(path.parent)
        with open(create_file(fresh), "wb") as stream:
            stream.write(content)
        os.replace(fresh, path)
    except OSError:
        fresh.unlink(missing_ok=True)
