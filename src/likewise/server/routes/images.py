"""Routes of images: files, thumbnails, details, the map, and a new scan of the folder."""

import json
from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Query, Response

from likewise.server.models import ChangesResponse, ImageResponse, MapResponse, SkippedResponse
from likewise.server.routes import By, ImageId
from likewise.workspace.gallery import SCALE, load_map
from likewise.workspace.workspace import IMAGE_CHANGES, Workspace

ImageIds = Annotated[
    str,
    Query(pattern=r"^[0-9]{1,9}(,[0-9]{1,9}){0,499}$", description="Up to 500 ids, by commas."),
]
_NUMBERS_PER_CHUNK = 2_000  # numbers of the map that are formatted at a time
_MAX_SKIPPED = 1_000  # files that are listed
_WEBP: dict[int | str, dict[str, Any]] = {200: {"content": {"image/webp": {}}}}


def images_router(workspace: Workspace) -> APIRouter:
    """Return the routes for images."""
    router = APIRouter(tags=["images"])

    @router.get("/images")
    def list_images(ids: ImageIds, by: By = "") -> list[ImageResponse]:
        """Return the names of some images, and the confidence of their groups."""
        gallery = workspace.criterion(by).status.gallery()
        wanted = [int(part) for part in ids.split(",")]
        return [ImageResponse(**asdict(gallery.image(position))) for position in wanted]

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

    @router.get("/skipped")
    def list_skipped() -> list[SkippedResponse]:
        """Return files of the folder that cannot be read as images, at most 1,000 of them."""
        found = workspace.skipped_files[:_MAX_SKIPPED]
        return [SkippedResponse(name=one.name, reason=one.reason) for one in found]

    @router.post("/rescan")
    def rescan_folder() -> ChangesResponse:
        """Scan the folder again: new images are embedded and grouped, missing ones are noted."""
        changes = workspace.rescan()
        counts = {name: len(getattr(changes, name)) if changes else 0 for name in IMAGE_CHANGES}
        return ChangesResponse(**counts)

    @router.get("/map", response_model=MapResponse)
    def get_map(by: By = "") -> Response:
        """Return every image as a point in the plane; empty before the first training."""
        return Response(_map_json(workspace, by), media_type="application/json")

    return router


def _webp(content: bytes) -> Response:
    headers = {"Cache-Control": "private, max-age=3600"}
    return Response(content, media_type="image/webp", headers=headers)


def _map_json(workspace: Workspace, by: str) -> str:
    """Return a `MapResponse` as JSON, formatted column by column."""
    criterion = workspace.criterion(by)
    images, points = load_map(workspace.session, criterion.name)
    if criterion.status.results is None:
        images, points, group, keys = images[:0], points[:0], images[:0], []
    else:
        gallery = criterion.status.gallery()
        group, keys = gallery.group_of[images], [one.key for one in gallery.groups]
    columns: dict[str, npt.NDArray[Any]] = {
        "ids": images,
        "x": points[:, 0],
        "y": points[:, 1],
        "group": group,
    }
    parts = [f'"{name}":[{format_numbers(column)}]' for name, column in columns.items()]
    return f'{{"scale":{SCALE},{",".join(parts)},"groups":{json.dumps(keys)}}}'


def format_numbers(column: npt.NDArray[np.integer]) -> str:
    """Return comma-separated numbers, formatted in chunks so that other threads can run between.

    Examples
    --------
    >>> format_numbers(np.array([3, -1]))
    '3,-1'
    """
    chunks = (
        column[start : start + _NUMBERS_PER_CHUNK].tolist()
        for start in range(0, len(column), _NUMBERS_PER_CHUNK)
    )
    return ",".join(",".join(map(str, chunk)) for chunk in chunks)
