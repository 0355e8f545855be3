"""Store the address of a session's page: the next start uses its port, and its token if wanted."""

import json
import os
import secrets
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

from likewise.errors import LikewiseError
from likewise.server.serve import bind

FILE = "page.json"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
ANY_HOST = ("0.0.0.0", "::")  # listens on every address of the machine


_TOKEN_BYTES = 24
_MIN_TOKEN = 22  # characters; 128 bits in base 64


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
    """Return a new token, or the last one if it is to be kept and is long enough."""
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


def is_open(address: PageAddress) -> bool:
    """Return whether a server listens at the address."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        return client.connect_ex((address.host, address.port)) == 0
