"""Images: files, thumbnails, details, and a new scan of the folder."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Response

from likewise.server.models import ChangesResponse, ImageResponse
from likewise.server.routes import By, ImageId
from likewise.workspace.workspace import IMAGE_CHANGES, Workspace

_WEBP: dict[int | str, dict[str, Any]] = {200: {"content": {"image/webp": {}}}}


def images_router(workspace: Workspace) -> APIRouter:
    """Return the routes for images."""
    router = APIRouter(tags=["images"])

    @router.get("/images/{id}", responses=_WEBP, response_class=Response)
    def get_image(image_id: ImageId) -> Response:
        """Return an image, re-encoded at screen size without metadata."""
        return _webp(workspace.thumbnails.image(image_id))

    @router.get("/images/{id}/thumbnail", responses=_WEBP, response_class=Response)
    def get_thumbnail(image_id: ImageId) -> Response:
        """Return a small copy of an image without metadata."""
        return _webp(workspace.thumbnails.thumbnail(image_id))

    @router.get("/images/{id}/info")
    def get_image_info(image_id: ImageId, by: By = "") -> ImageResponse:
        """Return the name of an image and the confidence of its group."""
        return ImageResponse(**asdict(workspace.criterion(by).status.gallery().image(image_id)))

    @router.post("/rescan")
    def rescan_folder() -> ChangesResponse:
        """Scan the folder again: new images are embedded and grouped, missing ones are noted."""
        changes = workspace.rescan()
        counts = {name: len(getattr(changes, name)) if changes else 0 for name in IMAGE_CHANGES}
        return ChangesResponse(**counts)

    return router


def _webp(content: bytes) -> Response:
    headers = {"Cache-Control": "private, max-age=3600"}
    return Response(content, media_type="image/webp", headers=headers)
