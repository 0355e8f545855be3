"""Access control for every request: host, origin, token and body size."""

import hashlib
import hmac
import ipaddress
import re
import secrets
import time
from collections.abc import Callable, Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from likewise.errors import InvalidParameterError
from likewise.server.page_address import ANY_HOST, LOOPBACK

MAX_BODY = 256 * 1024  # bytes
ONE_TIME_SECONDS = 60.0  # after which an unused one-time token is refused
_HOST = re.compile(
    r"(?P<name>\[[0-9a-f:.]+\]|[^\s@/?#\\\[\]:]+)(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE
)
_SAFE_METHODS = ("GET", "HEAD")
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
_COOKIE_OPTIONS = "Path=/; HttpOnly; SameSite=Strict"
_NO_TOKEN = (
    "This page needs its access token. Open the address that `likewise start` printed, which ends "
    "in ?token=...; programs send the token as `Authorization: Bearer ...`."
)


class BodyTooLargeError(HTTPException):
    """The request body is longer than `MAX_BODY`."""

    def __init__(self) -> None:
        super().__init__(413, f"The request body must have at most {MAX_BODY:,} bytes.")


class AccessTokens:
    """The tokens that open the page and the API.

    The lasting token is printed by `likewise start` and sent by programs. A one-time token opens
    the page once, within `ONE_TIME_SECONDS`: other users of the machine can read the command line
    of the browser that is started with it. The cookie is derived from the lasting token, so that
    what a browser stores on disk does not contain it.

    Parameters
    ----------
    token : str
        The lasting token.
    clock : callable
        Returns seconds.

    Examples
    --------
    >>> tokens = AccessTokens("the lasting token")
    >>> once = tokens.issue_one_time()
    >>> tokens.use_one_time(once), tokens.use_one_time(once)
    (True, False)
    """

    def __init__(self, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        if not token:
            raise InvalidParameterError("token must be a non-empty string, got ''.")
        self._token, self._clock = token.encode(), clock
        self.cookie = hmac.new(self._token, b"likewise cookie", hashlib.sha256).hexdigest()
        self._one_time: dict[str, float] = {}  # hash of each unused token: end of its time

    def is_valid(self, token: str) -> bool:
        """Return whether `token` is the lasting token."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token)

    def is_cookie(self, value: str) -> bool:
        """Return whether `value` is the value of the cookie."""
        return hmac.compare_digest(value.encode("utf-8", "replace"), self.cookie.encode())

    def issue_one_time(self) -> str:
        """Return a new one-time token."""
        token = secrets.token_urlsafe(24)
        self._one_time[_hash(token)] = self._clock() + ONE_TIME_SECONDS
        return token

    def use_one_time(self, token: str) -> bool:
        """Return whether a one-time token is valid; from then on it is not."""
        end = self._one_time.pop(_hash(token), None)  # a hash: its comparison takes equal time
        return end is not None and self._clock() <= end


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


class SecurityMiddleware:
    """ASGI middleware that checks every request and adds security headers to every response.

    A request must name a known host (against DNS rebinding), come from the same origin, carry a
    token (cookie, bearer header, or query of the page itself), and have a body of limited size.

    Parameters
    ----------
    app : ASGIApp
    tokens : AccessTokens
    hosts : iterable of str
        Allowed host names, in addition to the loopback ones. "0.0.0.0" and "::" allow every IP
        address, but no other name.
    """

    def __init__(self, app: ASGIApp, tokens: AccessTokens, hosts: Iterable[str] = ()) -> None:
        self._app, self._tokens = app, tokens
        self._hosts = {*LOOPBACK, *(host.lower() for host in hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reject it with an error response."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        rejection = self._check_source(scope, headers)
        cookie = None
        if rejection is None and self._opens_page(scope):
            cookie = f"{_cookie_name(headers)}={self._tokens.cookie}; {_COOKIE_OPTIONS}"
        elif rejection is None and not self._has_token(headers):
            rejection = _no_token(headers)
        if rejection is None and not _is_short(headers.get("content-length", "0")):
            rejection = _error(413, "BodyTooLargeError", BodyTooLargeError().detail)
        send = _with_headers(send, cookie)
        if rejection is not None:
            await rejection(scope, receive, send)
            return
        await self._app(scope, _limited(receive), send)

    def _check_source(self, scope: Scope, headers: Headers) -> Response | None:
        """Return an error response if the host or the origin is not allowed."""
        if not self._is_known_host(headers.get("host", "")):
            return _error(403, "WrongHostError", "The Host header must name this server's address.")
        if not _is_same_origin(scope, headers):
            return _error(403, "WrongOriginError", "Requests from other origins are not allowed.")
        return None

    def _is_known_host(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found["name"].strip("[]").lower()
        if name in self._hosts:
            return True
        return not self._hosts.isdisjoint(ANY_HOST) and _is_ip_address(name)

    def _has_token(self, headers: Headers) -> bool:
        """Return whether the bearer token is valid; without one, whether the cookie is."""
        bearer = _bearer(headers)
        if bearer is not None:
            return self._tokens.is_valid(bearer)
        cookie = _cookie(headers, _cookie_name(headers))
        return cookie is not None and self._tokens.is_cookie(cookie)

    def _opens_page(self, scope: Scope) -> bool:
        """Return whether the query has a token; it is accepted for the page itself only."""
        if scope["path"] != "/" or scope["method"] != "GET":
            return False
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return self._tokens.is_valid(token) or self._tokens.use_one_time(token)


async def check_query(request: Request) -> None:
    """Reject unknown query parameters, so that a misspelt `by` does not mean the default."""
    known = {one.alias for one in request.scope["route"].dependant.query_params}
    unknown = sorted(request.query_params.keys() - known)
    if unknown:
        message = f"Unknown parameter; known are: {', '.join(sorted(known)) or 'none'}"
        raise RequestValidationError([{"loc": ("query", unknown[0]), "msg": message}])


def _is_same_origin(scope: Scope, headers: Headers) -> bool:
    """Return whether a request comes from the page itself, from a program, or is a link to it.

    Another port of the same machine is another origin, but the same site.
    """
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        is_link = headers.get("sec-fetch-dest") == "document" and scope["method"] in _SAFE_METHODS
        if not is_link:
            return False
    origin = headers.get("origin")
    own = f"{scope['scheme']}://{headers.get('host')}"
    return origin is None or origin.lower() == own.lower()


def _is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _bearer(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _cookie_name(headers: Headers) -> str:
    """Return the name of the cookie: cookies are shared by all ports, so it contains the port."""
    found = _HOST.fullmatch(headers.get("host", ""))
    return f"likewise-{(found and found['port']) or 80}"


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return cookies[name].value if name in cookies else None


def _is_short(length: str) -> bool:
    return length.isdecimal() and len(length) < 20 and int(length) <= MAX_BODY


def _no_token(headers: Headers) -> Response:
    if "text/html" in headers.get("accept", ""):
        return HTMLResponse(f"<!doctype html><title>likewise</title><p>{_NO_TOKEN}", 401)
    return _error(401, "TokenError", _NO_TOKEN)


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
