"""Routes of groups: show, rename, merge, move images, and export."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Query, Response

from likewise.images.collection import displayed_name
from likewise.server.models import (
    ChangedGroupResponse,
    FoldersResponse,
    GalleryResponse,
    GallerySection,
    GroupResponse,
    GroupsResponse,
    ImageResponse,
    MoveResponse,
    NewGroupResponse,
)
from likewise.server.presenters import Presenter, group_name, json_response
from likewise.server.requests import (
    FoldersRequest,
    GroupChangeRequest,
    MoveRequest,
    NewGroupRequest,
)
from likewise.server.routes import By, GroupId, Signed
from likewise.server.security import name_of
from likewise.session.export.folders import export_beside
from likewise.session.export.formats import FORMATS, export, find_format
from likewise.session.results import Quality
from likewise.types import Indexes
from likewise.workspace.criterion import CriterionSession
from likewise.workspace.gallery import Gallery, GalleryQuery, Order, Shown
from likewise.workspace.workspace import Workspace

Limit = Annotated[int, Query(ge=0, le=500, description="Images per group.")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="Images to skip.")]
Below = Annotated[float, Query(ge=0, le=1, description="Unsure below this confidence.")]
Search = Annotated[str, Query(max_length=200, description="Words of a file name.")]
ChosenGroups = Annotated[
    Sequence[str], Query(max_length=1000, description="Ids or names of groups; none: all.")
]
_N_LEFT_OUT = 100  # listed in a response
ExportFormat = Annotated[str, Query(max_length=200, description=", ".join(FORMATS))]


def gallery_router(workspace: Workspace) -> APIRouter:
    """Return the routes that show groups."""
    router = APIRouter(tags=["groups"])

    @router.get("/groups")
    def list_groups(by: By = "", limit: Limit = 60) -> GroupsResponse:
        """Return the groups with their most confident images, and the unsure ones."""
        return _all_groups(workspace.criterion(by), limit)

    @router.get("/gallery", response_model=GalleryResponse)
    def get_gallery(
        by: By = "",
        order: Order = "surest",
        only: Shown = "all",
        below: Below = 0.6,
        search: Search = "",
    ) -> Response:
        """Return the ids of all images of each group in an order; details are at `/images`."""
        criterion = workspace.criterion(by)
        n_review = n_to_review(criterion.status.quality, len(workspace.session.images))
        query = GalleryQuery(order, only, below, n_review, search)
        return json_response(_sections(workspace, criterion, query))

    @router.get("/groups/{id}")
    def get_group(
        group_id: GroupId, by: By = "", offset: Offset = 0, limit: Limit = 60
    ) -> GroupResponse:
        """Return `limit` images of one group from `offset` on, the most confident first."""
        return _group(workspace.criterion(by).status.gallery(), group_id, offset, limit)

    return router


def groups_router(workspace: Workspace) -> APIRouter:
    """Return the routes that change groups."""
    router, presenter = APIRouter(tags=["groups"]), Presenter(workspace)

    @router.post("/groups", status_code=201)
    def create_group(request: NewGroupRequest, signed: Signed) -> NewGroupResponse:
        """Make a new group of the given images; each image is an answer in the log."""
        criterion = workspace.criterion(request.criterion)
        group_id, answers = criterion.split_group(
            request.images, request.name, name_of(signed, request.who)
        )
        return NewGroupResponse(id=group_id, **presenter.moved(answers, criterion))

    @router.patch("/groups/{id}")
    def change_group(
        group_id: GroupId, request: GroupChangeRequest, signed: Signed
    ) -> ChangedGroupResponse:
        """Rename, recolour or merge a group; each change is an entry in the log."""
        criterion = workspace.criterion(request.criterion)
        changes = request.model_dump(include={"name", "colour", "merge_into"})
        who = name_of(signed, request.who)
        changed = criterion.change_group(group_id, **changes, who=who)
        entry = workspace.session.last_entry(criterion.name)
        return ChangedGroupResponse(entry=entry, **group_name(changed).model_dump())

    @router.post("/moves", status_code=201)
    def move_images(request: MoveRequest, signed: Signed) -> MoveResponse:
        """Move images into a group; each image is an answer in the log."""
        criterion = workspace.criterion(request.criterion)
        answers = criterion.move_images(request.images, request.group, name_of(signed, request.who))
        return MoveResponse(**presenter.moved(answers, criterion))

    return router


def export_router(workspace: Workspace) -> APIRouter:
    """Return the routes for exports."""
    router = APIRouter(tags=["export"])

    @router.get("/export", response_class=Response)
    def export_file(to: ExportFormat = "csv", by: By = "", group: ChosenGroups = ()) -> Response:
        """Return the groups or the answers as a file; the groups satisfy all active answers."""
        name = workspace.criterion(by).name
        content = export(workspace.session, workspace.thumbnails, name, to, group)
        file = quote(f"{name}.{find_format(to).extension}")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{file}"}
        return Response(content, media_type=find_format(to).media_type, headers=headers)

    @router.post("/folders", status_code=201)
    def export_folders(request: FoldersRequest) -> FoldersResponse:
        """Copy or link the images into one folder per group, in a new folder next to theirs."""
        name = workspace.criterion(request.criterion).name
        folder, written = export_beside(workspace.session, name, request.how, request.groups)
        left_out = [f"{displayed_name(path)} {reason}" for path, reason in written.left_out]
        return FoldersResponse(
            folder=str(folder),
            n_written=written.n_written,
            left_out=left_out[:_N_LEFT_OUT],
        )

    return router


def n_to_review(quality: Quality, n_images: int) -> int:
    """Return how many images to review: those that may be wrong at the lower end of the interval.

    Examples
    --------
    >>> n_to_review({"accuracy": {"estimate": 0.96, "low": 0.9, "n_wrong": 8.0}}, 200)
    21
    """
    low = quality.get("accuracy", {}).get("low", 0.0)
    return int(n_images * (1 - low)) + 1


def _sections(
    workspace: Workspace, criterion: CriterionSession, query: GalleryQuery
) -> GalleryResponse:
    """Return the sections of the gallery; none before the first training."""
    sections: list[GallerySection] = []
    if criterion.status.results is not None:
        gallery = criterion.status.gallery()
        ids = query.select(gallery, workspace.session.images)
        group_of = gallery.group_of[ids]
        for number, group in enumerate(gallery.groups):
            images = ids[group_of == number].tolist()
            members = gallery.in_group(group.key)
            fields = group_name(group).model_dump()
            n_moved = int(np.count_nonzero(gallery.moved[members]))
            n = len(members)
            section = GallerySection(
                kind="group", n_images=n, n_moved=n_moved, images=images, **fields
            )
            sections.append(section)
        for kind, others in (("bad", gallery.bad), ("new", gallery.new)):
            images = ids[np.isin(ids, others)].tolist()
            fields = {"kind": kind, "id": f"~{kind}", "name": "", "colour": ""}
            sections.append(
                GallerySection(**fields, n_images=len(others), n_moved=0, images=images)
            )
    return GalleryResponse(
        criterion=criterion.name, version=criterion.status.version, sections=sections
    )


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
