"""Bind a socket before the embedding starts, and run the application on it."""

import socket
import sys
from collections.abc import Callable
from errno import EADDRNOTAVAIL

import uvicorn
from fastapi import FastAPI

from likewise.errors import LikewiseError
from likewise.server.connections import LimitedProtocol, limit_repeated_errors

# Seconds between two thread switches; shorter than Python's default of 5 ms, so that an answer
# does not wait for a thread that computes a gallery.
_SWITCH_INTERVAL = 0.0005
_BACKLOG = 128  # connections that wait to be accepted


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
