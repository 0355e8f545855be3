"""Looking at the folder again: new pictures are placed, those that are gone are said so."""

import contextlib
import threading
import time
from collections.abc import Callable

from likewise.errors import CollectionError, LikewiseError
from likewise.images.files import FolderCollection, read_folder
from likewise.session.images import Changes
from likewise.session.session import Session

_AT_LEAST = 15.0  # seconds between two looks
_SHARE = 50  # and this many times as long as one look takes


class FolderWatch:
    """Looks at the folder of a session now and then, from a thread of its own.

    Parameters
    ----------
    session : Session
        Open for writing.
    found : callable
        Called with the changes, if there are any.
    troubled : callable
        Called with what is wrong, in words; with None when it is over.
    """

    def __init__(
        self,
        session: Session,
        found: Callable[[Changes], None],
        troubled: Callable[[str | None], None],
    ) -> None:
        self._session, self._found, self._troubled = session, found, troubled
        self._looking, self._stopping = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watch", daemon=True)

    def start(self) -> None:
        """Begin to look now and then."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def look(self) -> Changes | None:
        """Look at the folder now; return what changed, None if nothing did.

        Raises
        ------
        CollectionError
            If the folder is gone or holds no picture; then nothing is noted as gone.
        """
        with self._looking:
            root = self._session.root
            if root is None:
                return None
            try:
                seen = read_folder(root, known=self._session.images.known_files)
            except CollectionError as error:
                message = f"The pictures cannot be reached: {error} Answers are kept."
                self._troubled(message)
                raise CollectionError(message) from error
            self._troubled(None)
            if not self._stopping.is_set() and is_news(self._session, seen):
                changes = self._session.sync(seen)
                self._found(changes)
                return changes
            return None

    def _watch(self) -> None:
        wait = _AT_LEAST
        while not self._stopping.wait(wait):
            begin = time.monotonic()
            with contextlib.suppress(LikewiseError):  # it was told
                self.look()
            wait = max(_AT_LEAST, _SHARE * (time.monotonic() - begin))


def is_news(session: Session, seen: FolderCollection) -> bool:
    """Return whether a folder holds other pictures than the session knows of."""
    images = session.images
    is_there = images.present.tolist()
    known = {
        (content, name)
        for content, name, there in zip(images.hashes, images.names, is_there, strict=True)
        if there
    }
    return known != {(seen.identity(i), seen.name(i)) for i in range(len(seen))}
