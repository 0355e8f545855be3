"""Run the application on a socket, within limits on connections; the address of the page."""

import json
import logging
import os
import secrets
import socket
import sys
import threading
import time
from asyncio import BaseTransport, TimerHandle, Transport
from collections.abc import Callable
from dataclasses import asdict, dataclass
from errno import EADDRNOTAVAIL
from io import StringIO
from pathlib import Path

import h11
import segno
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from likewise.errors import LikewiseError
from likewise.operating_system import max_open_files

MAX_CONNECTIONS = 200
MAX_PER_ADDRESS = 100
HEADER_SECONDS = 10.0  # from the start of a connection, or of a further request, to its last header
BODY_SECONDS = 30.0  # from the last header to the end of the body
WRITE_SECONDS = 60.0  # in which a client must read some of what it is sent
LOG_INTERVAL = 60.0  # seconds between two log records of the same error
IDLE_SECONDS = 30  # after which a connection without a request is closed; uvicorn's 5 are too few
_RESERVED_FILES = 64  # descriptors for everything but connections: database, images, page
_BUSY = b'{"error": "BusyError", "message": "Too many open connections; try again later."}'
_BUSY_RESPONSE = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 5\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(_BUSY), _BUSY)
)


def max_connections() -> int:
    """Return how many connections may be open, so that file descriptors remain for the rest."""
    n_files = max_open_files()
    if n_files is None:
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


# Seconds between two thread switches; shorter than Python's default of 5 ms, so that an answer
# does not wait for a thread that computes a gallery.
_SWITCH_INTERVAL = 0.0005
_BACKLOG = 128  # connections that wait to be accepted
FILE = "page.json"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
ANY_HOST = ("0.0.0.0", "::")  # listens on every address of the machine
_TOKEN_BYTES = 24
_MIN_TOKEN = 22  # characters; 128 bits in base 64


def bind(host: str, port: int) -> socket.socket:
    """Return a bound socket; port 0 takes any free port.

    Raises
    ------
    LikewiseError
        If the port is in use, or `host` is not an address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except (OSError, OverflowError, UnicodeError) as error:
        bound.close()
        is_name = isinstance(error, socket.gaierror | UnicodeError)
        if is_name or getattr(error, "errno", 0) == EADDRNOTAVAIL:
            raise LikewiseError(
                f"--host must be an address of this machine, got {host} ({error}); omit --host to "
                "serve this machine only, or use 0.0.0.0 for all of its addresses."
            ) from error
        raise LikewiseError(
            f"Cannot listen on {host}:{port} ({error}); another program may use the port. Omit "
            "--port to take a free one, or choose another."
        ) from error
    return bound


def serve(app: FastAPI, bound: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until Ctrl+C; `ready` is called once requests are answered."""
    sys.setswitchinterval(_SWITCH_INTERVAL)
    make_server(app, ready).run(sockets=[bound])


def make_server(app: FastAPI, ready: Callable[[], None]) -> uvicorn.Server:
    """Return a server that calls `ready` after its start; set its `should_exit` to stop it."""
    config = uvicorn.Config(
        app,
        http=LimitedProtocol,
        backlog=_BACKLOG,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=1,
    )
    limit_repeated_errors()
    return _Server(config, ready, app.state.close)


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        ready: Callable[[], None],
        close: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._ready, self._close = ready, close

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._close()  # ends the event streams, which would otherwise keep connections open
        await super().shutdown(sockets)


@dataclass(frozen=True)
class PageAddress:
    """Host, port and token of a page."""

    host: str
    port: int
    token: str

    @property
    def url(self) -> str:
        """Return the URL that opens the page."""
        shown = "127.0.0.1" if self.host in ANY_HOST else self.host
        name = f"[{shown}]" if ":" in shown else shown
        return f"http://{name}:{self.port}/?token={self.token}"


def load_address(session: Path) -> PageAddress | None:
    """Return the last known address of a session's page, None if there is none."""
    try:
        saved = json.loads((session / FILE).read_text(encoding="utf-8"))
        return PageAddress(str(saved["host"]), int(saved["port"]), str(saved["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def choose_token(last: PageAddress | None, *, keep: bool) -> str:
    """Return a new token; with `keep`, the last one if it is long enough."""
    if keep and last is not None and len(last.token) >= _MIN_TOKEN and last.token.isascii():
        return last.token
    return secrets.token_urlsafe(_TOKEN_BYTES)


def save_address(session: Path, address: PageAddress) -> None:
    """Save an address readable by the owner only; a folder that cannot be written is ignored."""
    temporary = session / f".{FILE}.{os.getpid()}"
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(asdict(address), file)
        os.replace(temporary, session / FILE)
    except OSError:
        temporary.unlink(missing_ok=True)


def bind_preferred(host: str, port: int, last: PageAddress | None) -> socket.socket:
    """Return a bound socket; with port 0 on the last port if it is free, else on any free one."""
    if port == 0 and last is not None and last.host == host:
        try:
            return bind(host, last.port)
        except LikewiseError:
            pass  # another process uses it now
    return bind(host, port)


def lan_address() -> str:
    """Return the address of this machine in the local network; loopback if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; selects the address of the route
            return str(probe.getsockname()[0])
        except OSError:
            return LOOPBACK[0]


def qr_code(text: str) -> str:
    """Return a QR code for a terminal, drawn with block characters."""
    drawn = StringIO()
    segno.make(text, error="m").terminal(drawn, compact=True)
    return drawn.getvalue()


def qr_svg(text: str) -> str:
    """Return a QR code as an SVG image."""
    return str(segno.make(text, error="m").svg_inline(scale=6, border=4, light="#fff"))


def is_open(address: PageAddress) -> bool:
    """Return whether a server listens at the address."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        return client.connect_ex((address.host, address.port)) == 0
