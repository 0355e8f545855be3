"""Who may come in: the right token, our own host and origin, bodies of a sane size."""

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from likewise.server.door import EVERYWHERE, LOOPBACK

MAX_BODY = 256 * 1024
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_NO_TOKEN = (
    "This address needs its token. Open the address that `likewise start` printed, with "
    "?token=... at its end; programs send it as `Authorization: Bearer ...`."
)


class TooLargeError(HTTPException):
    """A body went on after it was long enough."""

    def __init__(self) -> None:
        super().__init__(413, f"At most {MAX_BODY:,} bytes are taken at a time.")


class Guard:
    """ASGI middleware in front of everything.

    Parameters
    ----------
    app : ASGIApp
    token : str
    hosts : iterable of str
        Names by which we may be called, beside the loopback ones.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str] = ()) -> None:
        self._app, self._token = app, token
        self._hosts = {*LOOPBACK, *(host.lower() for host in hosts)}
        # Cookies know no ports: the name keeps two sessions on one machine apart.
        self.cookie = f"likewise-{hashlib.sha256(token.encode()).hexdigest()[:12]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        sent = _with_headers(send, self._new_cookie(scope, headers))
        if refusal is not None:
            await refusal(scope, receive, sent)
            return
        await self._app(scope, _measured(receive), sent)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if not self._is_our_host(headers.get("host", "")):
            return _refused(403, "WrongHostError", "This is not the address of this page.")
        if not _is_our_origin(headers):
            return _refused(403, "WrongOriginError", "Another page may not talk to this one.")
        if not self._has_token(scope, headers):
            if "text/html" in headers.get("accept", ""):
                return HTMLResponse(f"<!doctype html><title>likewise</title><p>{_NO_TOKEN}", 401)
            return _refused(401, "TokenError", _NO_TOKEN)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            return _too_large()
        return None

    def _is_our_host(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._hosts or (not self._hosts.isdisjoint(EVERYWHERE) and _is_address(name))

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        given = [_bearer(headers), _cookie(headers, self.cookie), self._in_address(scope)]
        return any(one is not None and self._is_right(one) for one in given)

    def _in_address(self, scope: Scope) -> str | None:
        """Return the token in the address; it counts for the page itself only."""
        if scope["path"] != "/":
            return None
        found = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        return found[0] if found else None

    def _is_right(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())

    def _new_cookie(self, scope: Scope, headers: Headers) -> str | None:
        """Return the cookie to set when somebody comes in with the token in the address."""
        token = self._in_address(scope)
        if token is None or not self._is_right(token):
            return None
        return f"{self.cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"


def _is_our_origin(headers: Headers) -> bool:
    if (
        headers.get("sec-fetch-site") == "cross-site"
        and headers.get("sec-fetch-dest") != "document"
    ):
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")


def _is_address(name: str) -> bool:
    """Return whether this is a number and no name: a name may be made to lead here."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _bearer(headers: Headers) -> str | None:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return cookies[name].value if name in cookies else None


def _refused(status: int, error: str, message: str) -> Response:
    return JSONResponse({"error": error, "message": message}, status)


def _too_large() -> Response:
    return _refused(413, "TooLargeError", TooLargeError().detail)


def _measured(receive: Receive) -> Receive:
    """Return a `receive` that stops reading a body that is too long."""
    n = 0

    async def measured() -> Message:
        nonlocal n
        message = await receive()
        n += len(message.get("body", b""))
        if n > MAX_BODY:
            raise TooLargeError
        return message

    return measured


def _with_headers(send: Send, cookie: str | None) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
            if cookie is not None:
                headers.append("Set-Cookie", cookie)
        await send(message)

    return sent
