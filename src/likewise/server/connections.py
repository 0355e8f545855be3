"""Limits of the connections to the server: their number, the time of a request, repeated errors."""

import logging
import resource
import socket
import threading
import time
from asyncio import BaseTransport, TimerHandle, Transport
from collections.abc import Callable

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 200
MAX_PER_ADDRESS = 100
HEADER_SECONDS = 10.0  # from the start of a connection, or of a further request, to its last header
BODY_SECONDS = 30.0  # from the last header to the end of the body
WRITE_SECONDS = 60.0  # in which a client must read some of what it is sent
LOG_INTERVAL = 60.0  # seconds between two log records of the same error
_RESERVED_FILES = 64  # descriptors for everything but connections: database, images, page
_BUSY = b'{"error": "BusyError", "message": "Too many open connections; try again later."}'
_BUSY_RESPONSE = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 5\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(_BUSY), _BUSY)
)


def max_connections() -> int:
    """Return how many connections may be open, so that file descriptors remain for the rest."""
    n_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if n_files == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return max(1, min(MAX_CONNECTIONS, n_files - _RESERVED_FILES))


class LimitedProtocol(H11Protocol):
    """One connection: without Nagle's algorithm, and with limits of number and time.

    Nagle's algorithm holds back the end of a response until the client has acknowledged its
    beginning, which clients delay by 40 ms.
    """

    _timer: TimerHandle | None = None
    _phase: object = None  # what the timer is for
    _write_timer: TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        """Start, or reject the connection if too many are open."""
        assert isinstance(transport, Transport)
        super().connection_made(transport)
        own: socket.socket | None = transport.get_extra_info("socket")
        if own is not None and own.family in (socket.AF_INET, socket.AF_INET6):
            own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        address = self.client[0] if self.client else ""
        open_here = [one for one in self.connections if isinstance(one, H11Protocol)]
        n_same = sum(one.client is not None and one.client[0] == address for one in open_here)
        if len(self.connections) > max_connections() or n_same > MAX_PER_ADDRESS:
            self.logger.warning("Too many open connections; rejected one from %s.", address)
            transport.write(_BUSY_RESPONSE)
            transport.close()
            return
        self._start_timer("header", HEADER_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._start_timer(None, 0)
        self._stop_write_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process a part of a request; it has limited time to become complete."""
        if not self.transport.is_closing():
            super().data_received(data)
            self._update_timer()

    def on_response_complete(self) -> None:
        """Process further requests that have already arrived."""
        super().on_response_complete()
        self._update_timer()

    def pause_writing(self) -> None:
        """Limit the time in which the client reads nothing."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """End the limit: the client has read."""
        super().resume_writing()
        self._stop_write_timer()

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _update_timer(self) -> None:
        """Start a timer when a part of a request is awaited, stop it when the part has arrived."""
        state, (rest, _) = self.conn.their_state, self.conn.trailing_data
        if state is h11.SEND_BODY:
            self._start_timer("body", BODY_SECONDS)
        elif state is h11.IDLE and (rest or self._phase == "header"):
            self._start_timer("header", HEADER_SECONDS)
        else:
            self._start_timer(None, 0)

    def _start_timer(self, phase: str | None, seconds: float) -> None:
        """Start the timer of a phase unless it runs already; None only stops the running one."""
        if phase == self._phase:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._phase = phase
        self._timer = None
        if phase is not None:
            self._timer = self.loop.call_later(seconds, self.transport.abort)


class RepeatedErrorFilter(logging.Filter):
    """Passes on the same error at most once in `LOG_INTERVAL`, with the number left out since.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    """

    _MAX_KEYS = 100

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._lock = clock, threading.Lock()
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}  # start, left out

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a record."""
        kind = record.exc_info[0] if record.exc_info else None
        key, now = (str(record.msg), "" if kind is None else kind.__name__), self._clock()
        with self._lock:
            since, n_omitted = self._seen.pop(key, (now - LOG_INTERVAL, 0))
            is_new = now - since >= LOG_INTERVAL
            self._seen[key] = (now, 0) if is_new else (since, n_omitted + 1)
            if len(self._seen) > self._MAX_KEYS:
                del self._seen[next(iter(self._seen))]
        if is_new and n_omitted:
            record.msg = f"{record.getMessage().rstrip()} ({n_omitted} more of these were omitted)"
            record.args = ()
        return is_new


def limit_repeated_errors() -> None:
    """Log repeated errors of the server and of its event loop at a limited rate."""
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        if not any(isinstance(one, RepeatedErrorFilter) for one in logger.filters):
            logger.addFilter(RepeatedErrorFilter())
