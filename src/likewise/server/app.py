"""The application: routes, the page's own files, and errors in one place."""

from collections.abc import Iterable
from importlib.resources import files

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from likewise import __version__
from likewise.errors import (
    CollectionError,
    ImageError,
    LikewiseError,
    SessionError,
    UnknownNameError,
)
from likewise.server.asking import asking
from likewise.server.comparing import comparing
from likewise.server.correcting import correcting
from likewise.server.guard import Guard, TooLargeError
from likewise.server.keeping import keeping
from likewise.server.log import log
from likewise.server.news import CLOSING, news
from likewise.server.replies import ErrorOut
from likewise.server.seeing import seeing
from likewise.server.showing import showing
from likewise.workspace.workspace import Workspace

_KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_PARTS = (asking, log, showing, seeing, correcting, comparing, keeping, news)
_STATUS: tuple[tuple[type[LikewiseError], int], ...] = (
    (UnknownNameError, 404),
    (ImageError, 410),
    (SessionError, 503),
    (CollectionError, 503),
)
_ERRORS = {status: {"model": ErrorOut} for status in (400, 401, 403, 404, 410, 413, 422, 503)}


def create_app(workspace: Workspace, token: str, hosts: Iterable[str] = ()) -> FastAPI:
    """Return the application for one desk; it keeps no other state.

    Parameters
    ----------
    workspace : Desk
    token : str
        Whoever knows it may see and answer.
    hosts : iterable of str
        Names by which we may be called, beside the loopback ones.
    """
    app = FastAPI(
        title="likewise",
        version=__version__,
        description="Ask, answer, see and export; errors are `{error, message}`.",
        docs_url=None,
        redoc_url=None,
        responses=_ERRORS,  # type: ignore[arg-type]  # FastAPI's own type is too narrow
    )
    for router in (part(workspace) for part in _PARTS):
        app.include_router(router)
    _add_page(app)
    _add_errors(app)
    app.state.close = lambda: workspace.events.publish({"event": CLOSING})
    app.add_middleware(Guard, token=token, hosts=tuple(hosts))
    return app


def _add_page(app: FastAPI) -> None:
    """Serve the files of the page by name: there is no path to walk."""
    page = {
        entry.name: entry.read_bytes()
        for entry in files(__package__).joinpath("page").iterdir()
        if "." in entry.name
    }

    @app.get("/", include_in_schema=False)
    def index() -> Response:
        return _file(page, "index.html")

    @app.get("/page/{name}", include_in_schema=False)
    def part(name: str) -> Response:
        if name not in page:
            raise HTTPException(404, f"{name!r} is no part of the page; reload it.")
        return _file(page, name)


def _file(page: dict[str, bytes], name: str) -> Response:
    kind = _KINDS.get(name[name.rfind(".") :], "application/octet-stream")
    return Response(page[name], media_type=f"{kind}; charset=utf-8")


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(LikewiseError)
    def ours(_: Request, error: LikewiseError) -> JSONResponse:
        status = next((code for kind, code in _STATUS if isinstance(error, kind)), 400)
        return _error(status, type(error).__name__, str(error))

    @app.exception_handler(RequestValidationError)
    def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return _error(422, "InvalidRequestError", f"{where}: {first['msg']}")

    @app.exception_handler(HTTPException)
    def by_status(_: Request, error: HTTPException) -> JSONResponse:
        name = type(error).__name__ if isinstance(error, TooLargeError) else "RequestError"
        return _error(error.status_code, name, str(error.detail))


def _error(status: int, error: str, message: str) -> JSONResponse:
    return JSONResponse({"error": error, "message": message}, status)
