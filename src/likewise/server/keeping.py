"""Routes for taking the result along."""

from urllib.parse import quote

from fastapi import APIRouter, Response

from likewise.desk.desk import Desk
from likewise.desk.exporting import FORMS, export
from likewise.server.shapes import Words


def keeping(desk: Desk) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/api")

    @router.get("/export", response_class=Response)
    def take_along(to: Words = "csv", orientation: Words = "") -> Response:
        """Return the groups, or the answers, as a file; every answer that stands is honoured."""
        name = desk.sorting(orientation).name
        content = export(desk.session, desk.album, name, to)
        form = FORMS[to]
        file = quote(f"{name}.{form.ending}")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{file}"}
        return Response(content, media_type=form.media_type, headers=headers)

    return router
