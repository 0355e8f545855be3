"""Routes for what is always visible, the pictures, and the ways to sort them."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from likewise.server.found import PictureOut
from likewise.server.replies import ChangesOut, OrientationOut, StatusOut, at_once
from likewise.server.shapes import OrientationIn, Words
from likewise.server.views import Views
from likewise.workspace.workspace import IMAGE_CHANGES, Workspace

Id = Annotated[int, Path(ge=0, le=2**31)]
_WEBP: dict[int | str, dict[str, Any]] = {200: {"content": {"image/webp": {}}}}


def showing(workspace: Workspace) -> APIRouter:
    """Return the routes."""
    router, views = APIRouter(prefix="/api"), Views(workspace)

    @router.get("/status", response_model=StatusOut)
    def status(orientation: Words = "") -> Response:
        """Return counts, agreement, contradictions, and what the trainer does."""
        return at_once(views.status(workspace.criterion(orientation)))

    @router.get("/images/{number}", responses=_WEBP, response_class=Response)
    def image(number: Id) -> Response:
        """Return a picture, made anew: large enough to judge it, without metadata."""
        return _webp(workspace.thumbnails.image(number))

    @router.get("/images/{number}/thumbnail", responses=_WEBP, response_class=Response)
    def thumbnail(number: Id) -> Response:
        """Return a small copy of a picture, without metadata."""
        return _webp(workspace.thumbnails.thumbnail(number))

    @router.get("/images/{number}/about")
    def about(number: Id, orientation: Words = "") -> PictureOut:
        """Return the name of a picture, and how sure its place is."""
        return PictureOut(**asdict(workspace.criterion(orientation).status.gallery().image(number)))

    @router.get("/orientations")
    def orientations() -> list[OrientationOut]:
        """Return the ways these pictures are sorted."""
        return [
            OrientationOut(
                name=one.name,
                n_clusters=one.n_clusters,
                n_answers=workspace.session.graph(one.name).n_answers,
            )
            for one in workspace.session.criteria
        ]

    @router.post("/orientations", status_code=201)
    def add_criterion(given: OrientationIn) -> OrientationOut:
        """Begin another way to sort the same pictures; vectors are shared."""
        made = workspace.add_criterion(given.name, given.n_clusters)
        return OrientationOut(name=made.name, n_clusters=made.n_clusters, n_answers=0)

    @router.post("/rescan")
    def rescan() -> ChangesOut:
        """Look at the folder again: new pictures are placed, those that are gone are noted."""
        changes = workspace.rescan()
        counts = {name: len(getattr(changes, name)) if changes else 0 for name in IMAGE_CHANGES}
        return ChangesOut(**counts)

    return router


def _webp(content: bytes) -> Response:
    headers = {"Cache-Control": "private, max-age=3600"}
    return Response(content, media_type="image/webp", headers=headers)
