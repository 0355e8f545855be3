"""Groups: list, change, move images, the map, and the comparison of two criteria."""

import json
from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Query, Response

from likewise.server.models import (
    CellResponse,
    ComparisonResponse,
    GroupChangeRequest,
    GroupName,
    GroupResponse,
    GroupsResponse,
    ImageResponse,
    MapResponse,
    MoveRequest,
    MoveResponse,
    NewGroupRequest,
    NewGroupResponse,
)
from likewise.server.presenters import Presenter
from likewise.server.routes import By, GroupId
from likewise.session.groups import Group
from likewise.types import Indexes
from likewise.workspace.criterion import CriterionSession
from likewise.workspace.gallery import Comparison, Gallery, compare
from likewise.workspace.map2d import SCALE, load_map
from likewise.workspace.workspace import Workspace

Limit = Annotated[int, Query(ge=0, le=500, description="Images per group.")]
CellLimit = Annotated[int, Query(ge=0, le=50, description="Images per cell.")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="Images to skip.")]
Second = Annotated[str, Query(max_length=200, description="Name of the second criterion.")]
_CHUNK = 2_000  # numbers of the map that are formatted at a time


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
        return _name(changed)

    @router.post("/moves", status_code=201)
    def move_images(request: MoveRequest) -> MoveResponse:
        """Move images into a group; each image is an answer in the log."""
        criterion = workspace.criterion(request.criterion)
        answers = criterion.move_images(request.images, request.group, request.who)
        return MoveResponse(**presenter.moved(answers, criterion))

    @router.get("/map", response_model=MapResponse)
    def get_map(by: By = "") -> Response:
        """Return every image as a point in the plane; empty before the first training."""
        return Response(_map_json(workspace, by), media_type="application/json")

    @router.get("/compare")
    def compare_criteria(
        second: Second, first: By = "", limit: CellLimit = 6
    ) -> ComparisonResponse:
        """Return the contingency table of two criteria, with some images in each cell."""
        one, other = workspace.criterion(first), workspace.criterion(second)
        table = compare(one.status.gallery(), other.status.gallery(), limit)
        return _comparison(table, one.name, other.name)

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


def _name(group: Group) -> GroupName:
    return GroupName(id=group.key, name=group.name, colour=group.colour)


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
    chunks = (column[start : start + _CHUNK].tolist() for start in range(0, len(column), _CHUNK))
    return ",".join(",".join(map(str, chunk)) for chunk in chunks)


def _comparison(table: Comparison, first: str, second: str) -> ComparisonResponse:
    cells = [
        [CellResponse(n=n, images=shown.tolist()) for n, shown in zip(ns, images, strict=True)]
        for ns, images in zip(table.counts.tolist(), table.images, strict=True)
    ]
    return ComparisonResponse(
        first=first,
        second=second,
        rows=[_name(group) for group in table.rows],
        columns=[_name(group) for group in table.columns],
        cells=cells,
        n_images=table.n_images,
        nmi=round(table.nmi, 4),
        ari=round(table.ari, 4),
    )
