"""Run the application on a socket that was bound before the long work began."""

import socket
import sys
from collections.abc import Callable
from errno import EADDRNOTAVAIL

import uvicorn
from fastapi import FastAPI

from likewise.errors import LikewiseError

_SWITCH = 0.0005  # seconds; who answers waits that long for a thread that makes a gallery


def bind(host: str, port: int) -> socket.socket:
    """Return a bound socket; port 0 takes any that is free.

    Raises
    ------
    LikewiseError
        If the port is in use or the address is not ours.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except (OSError, OverflowError, UnicodeError) as error:
        bound.close()
        is_named = isinstance(error, socket.gaierror | UnicodeError)
        if is_named or getattr(error, "errno", 0) == EADDRNOTAVAIL:
            raise LikewiseError(
                f"{host} is no address of this machine ({error}); leave --host out to be reached "
                "from this machine only, or give 0.0.0.0 for every address it has."
            ) from error
        raise LikewiseError(
            f"{host}:{port} cannot be used ({error}); another program may have it: leave --port "
            "out to take a free one, or choose another."
        ) from error
    return bound


def serve(app: FastAPI, bound: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until Ctrl+C; `ready` is called once requests are answered."""
    sys.setswitchinterval(_SWITCH)
    make_server(app, ready).run(sockets=[bound])


def make_server(app: FastAPI, ready: Callable[[], None]) -> uvicorn.Server:
    """Return a server that says when it is ready; set its `should_exit` to end it."""
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=1
    )
    return _Server(config, ready, app.state.close)


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], close: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready, self._close = ready, close

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._close()  # streams of news would never end by themselves
        await super().shutdown(sockets)
