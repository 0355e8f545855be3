"""Where the page of a session was last: an open browser finds it there again after a restart."""

import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

from likewise.errors import LikewiseError
from likewise.server.serve import bind

FILE = "page.json"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
EVERYWHERE = ("0.0.0.0", "::")  # listens at every address of the machine


@dataclass(frozen=True)
class Door:
    """The host, port and token of a page."""

    host: str
    port: int
    token: str

    @property
    def address(self) -> str:
        """Return what opens the page."""
        shown = "127.0.0.1" if self.host in EVERYWHERE else self.host
        name = f"[{shown}]" if ":" in shown else shown
        return f"http://{name}:{self.port}/?token={self.token}"


def last_door(session: Path) -> Door | None:
    """Return where the page of a session was last, or is; None if nobody knows."""
    try:
        kept = json.loads((session / FILE).read_text(encoding="utf-8"))
        return Door(str(kept["host"]), int(kept["port"]), str(kept["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep_door(session: Path, door: Door) -> None:
    """Write it down where only the owner of the session can read it; it only saves trouble."""
    fresh = session / f".{FILE}.{os.getpid()}"
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(asdict(door), file)
        os.replace(fresh, session / FILE)
    except OSError:
        fresh.unlink(missing_ok=True)


def bind_again(host: str, port: int, last: Door | None) -> socket.socket:
    """Return a bound socket; any port will do if none is named, that of last time if it is free."""
    if port == 0 and last is not None and last.host == host:
        try:
            return bind(host, last.port)
        except LikewiseError:
            pass  # somebody else has it now
    return bind(host, port)


def is_open(door: Door) -> bool:
    """Return whether something listens there."""
    family = socket.AF_INET6 if ":" in door.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as caller:
        caller.settimeout(1)
        return caller.connect_ex((door.host, door.port)) == 0
