"""Groups: list, change, move images, and export."""

from dataclasses import asdict
from typing import Annotated
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Query, Response

from likewise.images.collection import displayed_name
from likewise.server.models import (
    FoldersRequest,
    FoldersResponse,
    GroupChangeRequest,
    GroupName,
    GroupResponse,
    GroupsResponse,
    ImageResponse,
    MoveRequest,
    MoveResponse,
    NewGroupRequest,
    NewGroupResponse,
)
from likewise.server.presenters import Presenter, group_name
from likewise.server.routes import By, GroupId
from likewise.session.export.folders import export_beside
from likewise.session.export.formats import FORMATS, export
from likewise.types import Indexes
from likewise.workspace.criterion import CriterionSession
from likewise.workspace.gallery import Gallery
from likewise.workspace.workspace import Workspace

Limit = Annotated[int, Query(ge=0, le=500, description="Images per group.")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="Images to skip.")]
_N_LEFT_OUT = 100  # listed in a response
ExportFormat = Annotated[str, Query(max_length=200, description=", ".join(FORMATS))]


def groups_router(workspace: Workspace) -> APIRouter:
    """Return the routes for groups."""
    router, presenter = APIRouter(tags=["groups"]), Presenter(workspace)

    @router.get("/groups")
    def list_groups(by: By = "", limit: Limit = 60) -> GroupsResponse:
        """Return the groups with their most confident images, and the unsure ones."""
        return _all_groups(workspace.criterion(by), limit)

    @router.get("/groups/{id}")
    def get_group(
        group_id: GroupId, by: By = "", offset: Offset = 0, limit: Limit = 60
    ) -> GroupResponse:
        """Return `limit` images of one group from `offset` on, the most confident first."""
        return _group(workspace.criterion(by).status.gallery(), group_id, offset, limit)

    @router.post("/groups", status_code=201)
    def create_group(request: NewGroupRequest) -> NewGroupResponse:
        """Make a new group of the given images; each image is an answer in the log."""
        criterion = workspace.criterion(request.criterion)
        group_id, answers = criterion.split_group(request.images, request.name, request.who)
        return NewGroupResponse(id=group_id, **presenter.moved(answers, criterion))

    @router.patch("/groups/{id}")
    def change_group(group_id: GroupId, request: GroupChangeRequest) -> GroupName:
        """Rename, recolour or merge a group; each change is an entry in the log."""
        criterion = workspace.criterion(request.criterion)
        changes = request.model_dump(include={"name", "colour", "merge_into", "who"})
        changed = criterion.change_group(group_id, **changes)
        return group_name(changed)

    @router.post("/moves", status_code=201)
    def move_images(request: MoveRequest) -> MoveResponse:
        """Move images into a group; each image is an answer in the log."""
        criterion = workspace.criterion(request.criterion)
        answers = criterion.move_images(request.images, request.group, request.who)
        return MoveResponse(**presenter.moved(answers, criterion))

    return router


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


def _all_groups(criterion: CriterionSession, limit: int) -> GroupsResponse:
    """Return all groups with at most `limit` images each; none before the first training."""
    if criterion.status.results is None:
        return GroupsResponse(
            criterion=criterion.name,
            version=0,
            groups=[],
            n_unsure=0,
            unsure=[],
            bad=[],
            new=[],
        )
    gallery = criterion.status.gallery()
    return GroupsResponse(
        criterion=criterion.name,
        version=criterion.status.version,
        groups=[_group(gallery, group.key, 0, limit) for group in gallery.groups],
        n_unsure=len(gallery.unsure),
        unsure=_images(gallery, gallery.unsure[:limit]),
        bad=_images(gallery, gallery.bad[:limit]),
        new=_images(gallery, gallery.new[:limit]),
    )


def _group(gallery: Gallery, key: str, offset: int, limit: int) -> GroupResponse:
    members = gallery.in_group(key)
    group = next(one for one in gallery.groups if one.key == key)
    return GroupResponse(
        id=key,
        name=group.name,
        colour=group.colour,
        n_images=len(members),
        n_moved=int(np.count_nonzero(gallery.moved[members])),
        images=_images(gallery, members[offset : offset + limit]),
    )


def _images(gallery: Gallery, positions: Indexes) -> list[ImageResponse]:
    return [ImageResponse(**asdict(image)) for image in gallery.images(positions)]
