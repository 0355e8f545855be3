"""Watch the image folder of a session for new, changed and missing files."""

import contextlib
import threading
import time
from collections.abc import Callable

from likewise.errors import CollectionError, LikewiseError
from likewise.images.collection import Skipped
from likewise.images.files import FolderCollection, read_folder
from likewise.session.images import Changes
from likewise.session.session import Session

_MIN_INTERVAL = 15.0  # seconds between two scans
_SCAN_FACTOR = 50  # the interval is at least this many times the duration of a scan


class FolderWatch:
    """Scans the image folder of a session periodically, in its own thread.

    Parameters
    ----------
    session : Session
        Open for writing.
    on_change : callable
        Called with the changes, if there are any.
    on_problem : callable
        Called with an error message if the folder cannot be read, and with None when it can
        be read again.
    at_once : bool
        Whether the first scan is at the start: the session does not have all files yet.

    Attributes
    ----------
    skipped : list of Skipped
        Files that the last scan could not read.
    """

    def __init__(
        self,
        session: Session,
        on_change: Callable[[Changes], None],
        on_problem: Callable[[str | None], None],
        *,
        at_once: bool = False,
    ) -> None:
        self._session, self._on_change, self._on_problem = session, on_change, on_problem
        self.skipped: list[Skipped] = []
        self._first_wait = 0.0 if at_once else _MIN_INTERVAL
        self._scanning, self._stopping = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="folder watch", daemon=True)

    def start(self) -> None:
        """Start the periodic scans."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the periodic scans."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def scan(self) -> Changes | None:
        """Scan the folder now and update the session; return the changes, None if there are none.

        Raises
        ------
        CollectionError
            If the folder is missing or contains no image; then no image is recorded as missing.
        """
        with self._scanning:
            root = self._session.root
            if root is None or self._session.is_listed:
                return None
            try:
                found = read_folder(root, known=self._session.images.known_files)
            except CollectionError as error:
                message = f"The image folder cannot be reached: {error} All answers are kept."
                self._on_problem(message)
                raise CollectionError(message) from error
            self._on_problem(None)
            self.skipped = found.skipped
            if not self._stopping.is_set() and has_changes(self._session, found):
                changes = self._session.sync(found)
                self._on_change(changes)
                return changes
            return None

    def _run(self) -> None:
        wait = self._first_wait
        while not self._stopping.wait(wait):
            start = time.monotonic()
            with contextlib.suppress(LikewiseError):  # `on_problem` was called
                self.scan()
            wait = max(_MIN_INTERVAL, _SCAN_FACTOR * (time.monotonic() - start))


def has_changes(session: Session, found: FolderCollection) -> bool:
    """Return whether a folder contains other images than the session lists as present."""
    images = session.images
    is_present = images.present.tolist()
    known = {
        (content, name)
        for content, name, present in zip(images.hashes, images.names, is_present, strict=True)
        if present
    }
    return known != {(found.identity(i), found.name(i)) for i in range(len(found))}
