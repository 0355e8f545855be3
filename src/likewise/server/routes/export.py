"""Export the groups or the answers as a file, or the images into folders."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Response

from likewise.images.collection import displayed_name
from likewise.server.models import FoldersRequest, FoldersResponse
from likewise.server.routes import By
from likewise.session.export.folders import export_beside
from likewise.session.export.formats import FORMATS, export
from likewise.workspace.workspace import Workspace

_N_LEFT_OUT = 100  # listed in a response
ExportFormat = Annotated[str, Query(max_length=200, description=", ".join(FORMATS))]


def export_router(workspace: Workspace) -> APIRouter:
    """Return the routes for exports."""
    router = APIRouter(tags=["export"])

    @router.get("/export", response_class=Response)
    def export_file(to: ExportFormat = "csv", by: By = "") -> Response:
        """Return the groups or the answers as a file; the groups satisfy all active answers."""
        name = workspace.criterion(by).name
        content = export(workspace.session, workspace.thumbnails, name, to)
        file = quote(f"{name}.{FORMATS[to].extension}")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{file}"}
        return Response(content, media_type=FORMATS[to].media_type, headers=headers)

    @router.post("/folders", status_code=201)
    def export_folders(request: FoldersRequest) -> FoldersResponse:
        """Copy or link the images into one folder per group, in a new folder beside theirs."""
        name = workspace.criterion(request.criterion).name
        folder, written = export_beside(workspace.session, name, request.how)
        left_out = [f"{displayed_name(path)} {reason}" for path, reason in written.left_out]
        return FoldersResponse(
            folder=str(folder),
            n_written=written.n_written,
            left_out=left_out[:_N_LEFT_OUT],
        )

    return router
