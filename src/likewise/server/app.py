"""create_app: the FastAPI application, with the API routes, the page files and error responses."""

from collections.abc import Iterable
from importlib.resources import files

from fastapi import APIRouter, Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from likewise import __version__
from likewise.errors import (
    CollectionError,
    ImageError,
    LikewiseError,
    NoGroupsError,
    SessionError,
    UnknownNameError,
)
from likewise.server.events import CLOSING, events_router
from likewise.server.launcher import Launcher, start_router
from likewise.server.models import ErrorResponse
from likewise.server.routes.answers import answers_router, questions_router
from likewise.server.routes.criteria import criteria_router
from likewise.server.routes.groups import export_router, gallery_router, groups_router
from likewise.server.routes.images import images_router
from likewise.server.security import (
    AccessTokens,
    BodyTooLargeError,
    Person,
    SecurityMiddleware,
    check_query,
)
from likewise.workspace.workspace import Workspace

_ROUTERS = (
    questions_router,
    answers_router,
    gallery_router,
    groups_router,
    images_router,
    criteria_router,
    export_router,
    events_router,
)
_MEDIA_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".png": "image/png",
}
_STATUS_CODES: tuple[tuple[type[LikewiseError], int], ...] = (
    (UnknownNameError, 404),
    (ImageError, 410),
    (NoGroupsError, 409),
    (SessionError, 503),
    (CollectionError, 503),
)
_ERROR_STATUSES = (400, 401, 403, 404, 409, 410, 413, 422, 503)
_ERRORS = {status: {"model": ErrorResponse} for status in _ERROR_STATUSES}


def create_app(
    workspace: Workspace,
    token: str,
    hosts: Iterable[str] = (),
    launcher: Launcher | None = None,
    people: Iterable[Person] = (),
) -> FastAPI:
    """Return the application for one workspace; all state is in the workspace.

    Parameters
    ----------
    workspace : Workspace
    token : str
        Every request must carry it, or the cookie that the page gets with it.
        `app.state.tokens` issues one-time tokens.
    hosts : iterable of str
        Host names the server may be called by, in addition to the loopback ones.
    launcher : Launcher, optional
        Opens other sessions from the start page, ``/start``.
    people : iterable of Person
        Each has a token in `app.state.tokens.people`.
    """
    launcher = launcher or Launcher()
    routers = [make_router(workspace) for make_router in _ROUTERS]
    app = _make_app([*routers, start_router(launcher)], token, hosts, people)
    page = _add_page(app, "index.html")

    @app.get("/start", include_in_schema=False)
    def start_page() -> Response:
        return _file(page, "start.html")

    def close() -> None:
        workspace.events.publish({"event": CLOSING})
        launcher.close()

    app.state.close = close
    return app


def create_start_app(launcher: Launcher, token: str, hosts: Iterable[str] = ()) -> FastAPI:
    """Return the application of the start page alone; see `create_app`."""
    app = _make_app([start_router(launcher)], token, hosts)
    _add_page(app, "start.html")
    app.state.close = launcher.close
    return app


def _make_app(
    routers: Iterable[APIRouter],
    token: str,
    hosts: Iterable[str],
    people: Iterable[Person] = (),
) -> FastAPI:
    """Return an application with routes, error responses and access control."""
    app = FastAPI(
        title="likewise",
        version=__version__,
        description=(
            "Group images by a person's criterion: questions, answers, groups and exports. "
            "`by` and `criterion` name a criterion; without them the default one is used. "
            "Errors are `{error, message}`."
        ),
        docs_url=None,
        redoc_url=None,
        responses=_ERRORS,  # type: ignore[arg-type]  # FastAPI's own type is too narrow
    )
    for router in routers:
        app.include_router(router, prefix="/api", dependencies=[Depends(check_query)])
    _add_errors(app)
    app.state.tokens = AccessTokens(token, people=people)
    app.add_middleware(SecurityMiddleware, tokens=app.state.tokens, hosts=tuple(hosts))
    return app


def _add_page(app: FastAPI, start: str) -> dict[str, bytes]:
    """Serve the files of the page by name from memory; no path is resolved on disk."""
    page = {
        entry.name: entry.read_bytes()
        for entry in files(__package__).joinpath("page").iterdir()
        if "." in entry.name
    }

    @app.get("/", include_in_schema=False)
    def index() -> Response:
        return _file(page, start)

    @app.get("/page/{name}", include_in_schema=False)
    def page_file(name: str) -> Response:
        if name not in page:
            raise HTTPException(404, f"The page has no file {name!r}; reload the page.")
        return _file(page, name)

    return page


def _file(page: dict[str, bytes], name: str) -> Response:
    media_type = _MEDIA_TYPES.get(name[name.rfind(".") :], "application/octet-stream")
    charset = "" if media_type == "image/png" else "; charset=utf-8"
    return Response(page[name], media_type=media_type + charset)


def _add_errors(app: FastAPI) -> None:
    """Answer every error with `{error, message}`."""

    @app.exception_handler(LikewiseError)
    def likewise_error(_: Request, error: LikewiseError) -> JSONResponse:
        status = next((code for kind, code in _STATUS_CODES if isinstance(error, kind)), 400)
        return _error(status, type(error).__name__, str(error))

    @app.exception_handler(RequestValidationError)
    def invalid_request(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return _error(422, "InvalidRequestError", f"{where}: {first['msg']}")

    @app.exception_handler(HTTPException)
    def http_error(request: Request, error: HTTPException) -> JSONResponse:
        name = type(error).__name__ if isinstance(error, BodyTooLargeError) else "RequestError"
        message = str(error.detail)
        if error.status_code == 404 and message == "Not Found":
            message = f"There is no path {request.url.path!r}; all paths are in /openapi.json."
        return _error(error.status_code, name, message)


def _error(status: int, error: str, message: str) -> JSONResponse:
    return JSONResponse({"error": error, "message": message}, status)
