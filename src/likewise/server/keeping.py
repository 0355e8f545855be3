"""Routes for taking the result along."""

from urllib.parse import quote

from fastapi import APIRouter, Response

from likewise.server.replies import FoldersOut
from likewise.server.shapes import FoldersIn, Words
from likewise.session.export.folders import export_beside
from likewise.session.export.formats import FORMATS, export
from likewise.workspace.workspace import Workspace


def keeping(workspace: Workspace) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/api")

    @router.get("/export", response_class=Response)
    def take_along(to: Words = "csv", orientation: Words = "") -> Response:
        """Return the groups, or the answers, as a file; every answer that stands is honoured."""
        name = workspace.criterion(orientation).name
        content = export(workspace.session, workspace.thumbnails, name, to)
        form = FORMATS[to]
        file = quote(f"{name}.{form.extension}")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{file}"}
        return Response(content, media_type=form.media_type, headers=headers)

    @router.post("/folders", status_code=201)
    def into_folders(given: FoldersIn) -> FoldersOut:
        """Sort the pictures into a new folder beside theirs; the originals stay."""
        name = workspace.criterion(given.orientation).name
        place, done = export_beside(workspace.session, name, given.how)
        left_out = [f"{path} {reason}" for path, reason in done.left_out]
        return FoldersOut(folder=str(place), n_written=done.n_written, left_out=left_out[:100])

    return router
