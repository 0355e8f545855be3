"""The pictures of a session as people see them: small or large, made anew, without metadata."""

import os
from collections.abc import Sequence
from pathlib import Path
from threading import BoundedSemaphore

from likewise.errors import CollectionError, ImageError, InvalidParameterError
from likewise.images.files import FileCollection
from likewise.images.resize import thumbnail
from likewise.images.validate_files import ImageFile
from likewise.session.create import THUMBNAILS
from likewise.session.session import Session

SMALL, LARGE = 256, 1600  # the longer side in pixels
_AT_ONCE = 2  # pictures decoded at a time: answers must never wait for them


def files_of(session: Session, positions: Sequence[int]) -> FileCollection:
    """Return the files at `positions` of a session, as they were when it last looked.

    Raises
    ------
    CollectionError
        If the pictures of the session are not files.
    """
    root, images = session.root, session.images
    if root is None:
        raise CollectionError(
            "The pictures of this session are not files, so there is nothing to show; begin a "
            "session with `likewise start FOLDER`."
        )
    seen = {(name, content): (n, at) for (name, n, at), content in images.known_files.items()}
    found = []
    for i in positions:
        name, content = images.names[i], images.hashes[i]
        n_bytes, changed_at = seen.get((name, content), (-1, -1))
        found.append(ImageFile(str(root / name), name, content, n_bytes, changed_at))
    return FileCollection(found, [])


class Album:
    """Shows the pictures of a session; safe to call from many threads.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.refresh()
        self._root = os.path.realpath(session.root or "")
        self._folder = session.path / THUMBNAILS
        self._turn = BoundedSemaphore(_AT_ONCE)

    def refresh(self) -> None:
        """Take note of pictures that are new or have moved."""
        self._files = files_of(self._session, range(len(self._session.images)))

    def picture(self, position: int) -> bytes:
        """Return an image as a WebP file, large enough to judge it.

        Raises
        ------
        InvalidParameterError
            If there is no such image.
        ImageError
            If its file vanished, changed or broke.
        """
        return self._made(position, LARGE, quality=88)

    def thumbnail(self, position: int) -> bytes:
        """Return a small copy, which is kept in the session for the next time."""
        self._check(position)
        kept = self._folder / f"{self._files.identity(position)}.webp"
        try:
            return kept.read_bytes()
        except OSError:
            made = self._made(position, SMALL, quality=80)
        _keep(kept, made)
        return made

    def _made(self, position: int, side: int, quality: int) -> bytes:
        self._check(position)
        with self._turn:
            pixels = self._files.pixels(position, at_least=side)
            return thumbnail(pixels, side, quality=quality)

    def _check(self, position: int) -> None:
        if not 0 <= position < len(self._files):
            raise InvalidParameterError(
                f"Image {position} is not in this session; it has 0 to {len(self._files) - 1}."
            )
        real = os.path.realpath(self._files.path(position))
        if os.path.commonpath([real, self._root]) != self._root:
            raise ImageError(
                f"{self._files.name(position)!r} leads out of the folder now and is not shown; "
                "put the picture itself there."
            )


def _keep(path: Path, content: bytes) -> None:
    """Keep a thumbnail if that can be; it only saves time."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{id(content)}")
    try:
        path.parent.mkdir(exist_ok=True)
        fresh.write_bytes(content)
        os.replace(fresh, path)
    except OSError:
        fresh.unlink(missing_ok=True)
