"""Access control for every request: host, origin, token and body size."""

import hashlib
import hmac
import ipaddress
import re
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.server.serve import ANY_HOST, LOOPBACK

MAX_BODY = 256 * 1024  # bytes
ONE_TIME_SECONDS = 60.0  # after which an unused one-time token is refused
_HOST = re.compile(
    r"(?P<name>\[[0-9a-f:.]+\]|[^\s@/?#\\\[\]:]+)(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE
)
_SAFE_METHODS = ("GET", "HEAD")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_OWNER_PATHS = ("/start", "/api/start", "/api/folders", "/api/questions")  # not for viewers
_ADMIN_PATHS = ("/api/start", "/api/folders")
_MAX_NAME = 100
_READ_ONLY = (
    "This link is read-only: it shows the groups and exports them. Ask the person who sent it for "
    "another link to answer or to change groups."
)
_NOT_THIS_ROLE = (
    "Your role is {role!r}: {allowed}. Ask the person who runs the session for a link with another "
    "role."
)
ROLES = {  # what each may do, for the message
    "answer": "you can answer questions, undo your own answers, and see everything",
    "review": "you can answer, retract answers and change groups, but not criteria and folders",
    "admin": "you can do everything",
}
_MAY_ANSWER = re.compile(r"POST /api/(answers|undo)")
_MAY_REVIEW = re.compile(
    r"POST /api/(answers|undo|groups|moves)|POST /api/answers/\d+/confirm|DELETE /api/answers/\d+|"
    r"PATCH /api/groups/[^/]+"
)
_COOKIE_OPTIONS = "Path=/; HttpOnly; SameSite=Strict"
_NO_TOKEN = (
    "This page needs its access token. Open the address that `likewise start` printed, which ends "
    "in ?token=...; programs send the token as `Authorization: Bearer ...`."
)


class BodyTooLargeError(HTTPException):
    """The request body is longer than `MAX_BODY`."""

    def __init__(self) -> None:
        super().__init__(413, f"The request body must have at most {MAX_BODY:,} bytes.")


@dataclass(frozen=True)
class Person:
    """A person with a link of their own: the name in the answer log, and what they may do."""

    name: str
    role: str

    @classmethod
    def parse(cls, text: str) -> "Person":
        """Return the person of ``NAME=ROLE``; without a role, it is ``answer``.

        Examples
        --------
        >>> Person.parse("Anna=review")
        Person(name='Anna', role='review')
        """
        name, _, role = text.partition("=")
        name, role = name.strip(), role.strip() or "answer"
        if not name or len(name) > _MAX_NAME or not name.isprintable():
            raise InvalidParameterError(
                f"--person must be NAME=ROLE with a name of 1 to {_MAX_NAME} printable characters, "
                f"got {text!r}; for example --person Anna=review."
            )
        if role not in ROLES:
            raise UnknownNameError("role", role, ROLES)
        return cls(name, role)


def person_of(request: Request) -> Person | None:
    """Return the person whose link was used; None for the link of the session."""
    person: Person | None = getattr(request.state, "person", None)
    return person


def name_of(person: Person | None, given: str) -> str:
    """Return the name of the person, or the one given in the request."""
    return given if person is None else person.name


class AccessTokens:
    """The tokens that open the page and the API.

    The session token is printed by `likewise start` and sent by programs. A one-time token opens
    the page once, within `ONE_TIME_SECONDS`: other users of the machine can read the command line
    of the browser that is started with it. The cookie is derived from the session token, so that
    what a browser stores on disk does not contain it. The viewer's token gives read-only access.

    Parameters
    ----------
    token : str
        The session token, printed by `likewise start`.
    clock : callable
        Returns seconds.
    people : iterable of Person
        Each gets a token, which changes only if the session token does.

    Examples
    --------
    >>> tokens = AccessTokens("the session token")
    >>> once = tokens.issue_one_time()
    >>> tokens.use_one_time(once), tokens.use_one_time(once)
    (True, False)
    """

    def __init__(
        self,
        token: str,
        clock: Callable[[], float] = time.monotonic,
        people: Iterable[Person] = (),
    ) -> None:
        if not token:
            raise InvalidParameterError("token must be a non-empty string, got ''.")
        self._token, self._clock = token.encode(), clock
        self.cookie: str = hmac.new(self._token, b"likewise cookie", hashlib.sha256).hexdigest()
        self.viewer: str = hmac.new(self._token, b"likewise viewer", hashlib.sha256).hexdigest()
        self.viewer_cookie: str = _hash(f"cookie {self.viewer}")
        self.people: dict[str, Person] = {self._of_person(person): person for person in people}
        self._one_time: dict[str, float] = {}  # hash of each unused token: end of its time

    def is_valid(self, token: str) -> bool:
        """Return whether `token` is the session token."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token)

    def is_cookie(self, value: str) -> bool:
        """Return whether `value` is the value of the cookie."""
        return _is_equal(value, self.cookie)

    def is_viewer(self, token: str) -> bool:
        """Return whether `token` is the viewer's token, or the value of its cookie."""
        return _is_equal(token, self.viewer) or _is_equal(token, self.viewer_cookie)

    def person_of(self, token: str) -> Person | None:
        """Return the person of a token or of the value of its cookie."""
        found = None
        for known, person in self.people.items():  # all of them: takes equal time
            if _is_equal(token, known) or _is_equal(token, _hash(f"cookie {known}")):
                found = person
        return found

    def _of_person(self, person: Person) -> str:
        key = f"likewise person {person.role} {person.name}".encode("utf-8", "replace")
        return hmac.new(self._token, key, hashlib.sha256).hexdigest()

    def issue_one_time(self) -> str:
        """Return a new one-time token."""
        token = secrets.token_urlsafe(24)
        self._one_time[_hash(token)] = self._clock() + ONE_TIME_SECONDS
        return token

    def use_one_time(self, token: str) -> bool:
        """Return whether a one-time token is valid, and invalidate it."""
        end = self._one_time.pop(_hash(token), None)  # a hash: its comparison takes equal time
        return end is not None and self._clock() <= end


def _is_equal(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


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
        opened = None if rejection is not None else self._opens_page(scope)
        cookie = opened and f"{_cookie_name(headers)}={opened}; {_COOKIE_OPTIONS}"
        if rejection is None and opened is None:
            rejection = self._check_token(scope, headers)
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

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Return an error response without a token, or if a viewer or person may not do this."""
        state = scope.setdefault("state", {})
        given = _bearer(headers) or _cookie(headers, _cookie_name(headers)) or ""
        state["person"] = person = self._tokens.person_of(given)
        if person is not None:
            state["is_read_only"] = False
            return None if _is_for_role(scope, person.role) else _wrong_role(person.role)
        is_viewer = not self._has_token(headers)
        state["is_read_only"] = is_viewer
        if is_viewer and not self._tokens.is_viewer(given):
            return _no_token(headers)
        if is_viewer and not _is_for_viewers(scope):
            return _error(403, "ReadOnlyError", _READ_ONLY)
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

    def _opens_page(self, scope: Scope) -> str | None:
        """Return the cookie that the token in the query gives; only for the page itself."""
        if scope["path"] != "/" or scope["method"] != "GET":
            return None
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if self._tokens.is_valid(token) or self._tokens.use_one_time(token):
            return self._tokens.cookie
        if self._tokens.person_of(token) is not None:
            return _hash(f"cookie {token}")
        return self._tokens.viewer_cookie if self._tokens.is_viewer(token) else None


def _is_for_viewers(scope: Scope) -> bool:
    """Return whether a request only reads, and reads what a viewer may see."""
    path: str = scope["path"]
    is_allowed = not any(path == one or path.startswith(f"{one}/") for one in _OWNER_PATHS)
    return scope["method"] in _SAFE_METHODS and is_allowed


def _is_for_role(scope: Scope, role: str) -> bool:
    """Return whether a person of a role may make a request."""
    request = f"{scope['method']} {scope['path']}"
    reads = scope["method"] in _SAFE_METHODS and scope["path"] != "/start"
    if role == "admin" or (reads and not scope["path"].startswith(_ADMIN_PATHS)):
        return True
    may = _MAY_REVIEW if role == "review" else _MAY_ANSWER
    return may.fullmatch(request) is not None


def _wrong_role(role: str) -> Response:
    return _error(403, "RoleError", _NOT_THIS_ROLE.format(role=role, allowed=ROLES[role]))


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
