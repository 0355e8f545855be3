"""The application: the routes, the files of the page, and the error responses."""

from collections.abc import Iterable
from importlib.resources import files

from fastapi import Depends, FastAPI
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
from likewise.server.events import CLOSING, events_router
from likewise.server.models import ErrorResponse
from likewise.server.routes.answers import answers_router
from likewise.server.routes.criteria import criteria_router
from likewise.server.routes.groups import export_router, groups_router
from likewise.server.routes.images import images_router
from likewise.server.routes.questions import questions_router
from likewise.server.security import (
    AccessTokens,
    BodyTooLargeError,
    SecurityMiddleware,
    check_query,
)
from likewise.workspace.workspace import Workspace

_ROUTERS = (
    questions_router,
    answers_router,
    groups_router,
    images_router,
    criteria_router,
    export_router,
    events_router,
)
_MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_STATUS_CODES: tuple[tuple[type[LikewiseError], int], ...] = (
    (UnknownNameError, 404),
    (ImageError, 410),
    (SessionError, 503),
    (CollectionError, 503),
)
_ERRORS = {status: {"model": ErrorResponse} for status in (400, 401, 403, 404, 410, 413, 422, 503)}


def create_app(workspace: Workspace, token: str, hosts: Iterable[str] = ()) -> FastAPI:
    """Return the application for one workspace; all state is in the workspace.

    Parameters
    ----------
    workspace : Workspace
    token : str
        Every request must carry it, or the cookie that the page gets with it.
        `app.state.tokens` issues one-time tokens.
    hosts : iterable of str
        Host names the server may be called by, in addition to the loopback ones.
    """
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
    for make_router in _ROUTERS:
        app.include_router(
            make_router(workspace), prefix="/api", dependencies=[Depends(check_query)]
        )
    _add_page(app)
    _add_errors(app)
    app.state.close = lambda: workspace.events.publish({"event": CLOSING})
    app.state.tokens = AccessTokens(token)
    app.add_middleware(SecurityMiddleware, tokens=app.state.tokens, hosts=tuple(hosts))
    return app


def _add_page(app: FastAPI) -> None:
    """Serve the files of the page by name from memory; no path is resolved on disk."""
    page = {
        entry.name: entry.read_bytes()
        for entry in files(__package__).joinpath("page").iterdir()
        if "." in entry.name
    }

    @app.get("/", include_in_schema=False)
    def index() -> Response:
        return _file(page, "index.html")

    @app.get("/page/{name}", include_in_schema=False)
    def page_file(name: str) -> Response:
        if name not in page:
            raise HTTPException(404, f"The page has no file {name!r}; reload the page.")
        return _file(page, name)


def _file(page: dict[str, bytes], name: str) -> Response:
    media_type = _MEDIA_TYPES.get(name[name.rfind(".") :], "application/octet-stream")
    return Response(page[name], media_type=f"{media_type}; charset=utf-8")


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
