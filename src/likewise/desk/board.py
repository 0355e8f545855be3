"""Where news is put up for everyone who wants to hear of it."""

import contextlib
import threading
from collections.abc import Callable

from likewise.desk.messages import Message

Listener = Callable[[Message], None]


class Board:
    """Listeners, and the lock of whoever puts up the news; safe to call from many threads."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called with all news, from any thread; call what is returned to stop."""
        with self._lock:
            self._listeners.append(listener)

        def stop() -> None:
            with self._lock, contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    def publish(self, message: Message) -> None:
        """Tell everyone who listens."""
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener(message)
