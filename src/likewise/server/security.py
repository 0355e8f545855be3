"""Access control for every request: host, origin, token and body size."""

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from likewise.server.page_address import ANY_HOST, LOOPBACK

MAX_BODY = 256 * 1024  # bytes
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
    "This page needs its access token. Open the address that `likewise start` printed, which ends "
    "in ?token=...; programs send the token as `Authorization: Bearer ...`."
)


class BodyTooLargeError(HTTPException):
    """The request body is longer than `MAX_BODY`."""

    def __init__(self) -> None:
        super().__init__(413, f"The request body must have at most {MAX_BODY:,} bytes.")


class SecurityMiddleware:
    """ASGI middleware that checks every request and adds security headers to every response.

    A request must name a known host (against DNS rebinding), come from the same origin, carry the
    token (cookie, bearer header, or query of the page itself), and have a body of limited size.

    Parameters
    ----------
    app : ASGIApp
    token : str
    hosts : iterable of str
        Allowed host names, in addition to the loopback ones. "0.0.0.0" and "::" allow every IP
        address, but no other name.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str] = ()) -> None:
        self._app, self._token = app, token
        self._hosts = {*LOOPBACK, *(host.lower() for host in hosts)}
        # Cookies are not separated by port: the name separates two sessions on one machine.
        self.cookie = f"likewise-{hashlib.sha256(token.encode()).hexdigest()[:12]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reject it with an error response."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        send = _with_headers(send, self._new_cookie(scope, headers))
        rejection = self._check(scope, headers)
        if rejection is not None:
            await rejection(scope, receive, send)
            return
        await self._app(scope, _limited(receive), send)

    def _check(self, scope: Scope, headers: Headers) -> Response | None:
        """Return an error response if the request is not allowed."""
        if not self._is_known_host(headers.get("host", "")):
            return _error(
                403,
                "WrongHostError",
                "The Host header must name this server's address.",
            )
        if not _is_same_origin(headers):
            return _error(403, "WrongOriginError", "Requests from other origins are not allowed.")
        if not self._has_token(scope, headers):
            if "text/html" in headers.get("accept", ""):
                return HTMLResponse(f"<!doctype html><title>likewise</title><p>{_NO_TOKEN}", 401)
            return _error(401, "TokenError", _NO_TOKEN)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            return _error(413, "BodyTooLargeError", BodyTooLargeError().detail)
        return None

    def _is_known_host(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._hosts:
            return True
        return not self._hosts.isdisjoint(ANY_HOST) and _is_ip_address(name)

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        given = [
            _bearer(headers),
            _cookie(headers, self.cookie),
            self._query_token(scope),
        ]
        return any(token is not None and self._is_valid(token) for token in given)

    def _query_token(self, scope: Scope) -> str | None:
        """Return the token in the query; it is accepted for the page itself only."""
        if scope["path"] != "/":
            return None
        found = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        return found[0] if found else None

    def _is_valid(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())

    def _new_cookie(self, scope: Scope, headers: Headers) -> str | None:
        """Return the cookie to set when the page is opened with the token in its query."""
        token = self._query_token(scope)
        if token is None or not self._is_valid(token):
            return None
        return f"{self.cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"


async def check_query(request: Request) -> None:
    """Reject unknown query parameters, so that a misspelt `by` does not mean the default."""
    known = {one.alias for one in request.scope["route"].dependant.query_params}
    unknown = sorted(request.query_params.keys() - known)
    if unknown:
        message = f"Unknown parameter; known are: {', '.join(sorted(known)) or 'none'}"
        raise RequestValidationError([{"loc": ("query", unknown[0]), "msg": message}])


def _is_same_origin(headers: Headers) -> bool:
    if (
        headers.get("sec-fetch-site") == "cross-site"
        and headers.get("sec-fetch-dest") != "document"
    ):
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")


def _is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _bearer(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return cookies[name].value if name in cookies else None


def _error(status: int, error: str, message: str) -> Response:
    return JSONResponse({"error": error, "message": message}, status)


def _limited(receive: Receive) -> Receive:
    """Return a `receive` that raises once the body is longer than `MAX_BODY`."""
    n_bytes = 0

    async def receive_limited() -> Message:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > MAX_BODY:
            raise BodyTooLargeError
        return message

    return receive_limited


def _with_headers(send: Send, cookie: str | None) -> Send:
    """Return a `send` that adds the security headers and, if given, a cookie."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
            if cookie is not None:
                headers.append("Set-Cookie", cookie)
        await send(message)

    return send_with_headers
