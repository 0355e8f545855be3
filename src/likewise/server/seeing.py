"""Routes for what was found: groups and the map."""

import json
from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Query, Response

from likewise.server.found import GroupOut, GroupsOut, MapOut, PictureOut
from likewise.server.shapes import GroupIn, Words
from likewise.types import Indexes
from likewise.workspace.criterion import CriterionSession
from likewise.workspace.gallery import Gallery
from likewise.workspace.map2d import SCALE, load_map
from likewise.workspace.workspace import Workspace

Limit = Annotated[int, Query(ge=0, le=500)]
From = Annotated[int, Query(ge=0, le=2**31)]
_PART = 2_000  # numbers of the map written at a time


def seeing(workspace: Workspace) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/api")

    @router.get("/groups")
    def groups(orientation: Words = "", limit: Limit = 60) -> GroupsOut:
        """Return the groups with their surest pictures, and the unsure ones."""
        return _groups(workspace.criterion(orientation), limit)

    @router.get("/groups/{key}")
    def group(key: Words, orientation: Words = "", offset: From = 0, limit: Limit = 60) -> GroupOut:
        """Return more pictures of one group."""
        return _group(workspace.criterion(orientation).status.gallery(), key, offset, limit)

    @router.patch("/groups/{key}")
    def change_group(key: Words, given: GroupIn) -> GroupOut:
        """Rename, colour or merge a group; each is an entry in the log."""
        criterion = workspace.criterion(given.orientation)
        changed = criterion.change_group(
            key,
            name=given.name,
            colour=given.colour,
            merge_into=given.merge_into,
            who=given.who,
        )
        return GroupOut(
            key=changed.key,
            name=changed.name,
            colour=changed.colour,
            n_images=0,
            n_moved=0,
            images=[],
        )

    @router.get("/map", response_model=MapOut)
    def flat_map(orientation: Words = "") -> Response:
        """Return every image as a point in the plane."""
        return Response(_map(workspace, orientation), media_type="application/json")

    return router


def _map(workspace: Workspace, orientation: str) -> str:
    """Return a `MapOut` as text, column by column."""
    criterion = workspace.criterion(orientation)
    positions, places = load_map(workspace.session, criterion.name)
    if criterion.status.results is None:
        positions, places, group, keys = positions[:0], places[:0], positions[:0], []
    else:
        gallery = criterion.status.gallery()
        group, keys = gallery.group_of[positions], [one.key for one in gallery.groups]
    columns: dict[str, npt.NDArray[Any]] = {
        "ids": positions,
        "x": places[:, 0],
        "y": places[:, 1],
        "group": group,
    }
    parts = [f'"{name}":[{numbers(column)}]' for name, column in columns.items()]
    return f'{{"scale":{SCALE},{",".join(parts)},"groups":{json.dumps(keys)}}}'


def numbers(column: npt.NDArray[np.integer]) -> str:
    """Return numbers as text, some at a time: who answers meanwhile must not wait for all.

    Examples
    --------
    >>> numbers(np.array([3, -1]))
    '3,-1'
    """
    parts = (column[start : start + _PART].tolist() for start in range(0, len(column), _PART))
    return ",".join(",".join(map(str, part)) for part in parts)


def _groups(criterion: CriterionSession, limit: int) -> GroupsOut:
    """Return all groups with at most `limit` pictures each; none before there are results."""
    name = criterion.name
    if criterion.status.results is None:
        return GroupsOut(
            orientation=name, version=0, groups=[], n_unsure=0, unsure=[], bad=[], fresh=[]
        )
    gallery = criterion.status.gallery()
    return GroupsOut(
        orientation=name,
        version=criterion.status.version,
        groups=[_group(gallery, group.key, 0, limit) for group in gallery.groups],
        n_unsure=len(gallery.unsure),
        unsure=_pictures(gallery, gallery.unsure[:limit]),
        bad=_pictures(gallery, gallery.bad[:limit]),
        fresh=_pictures(gallery, gallery.new[:limit]),
    )


def _group(gallery: Gallery, key: str, offset: int, limit: int) -> GroupOut:
    members = gallery.in_group(key)
    about = next(one for one in gallery.groups if one.key == key)
    return GroupOut(
        key=key,
        name=about.name,
        colour=about.colour,
        n_images=len(members),
        n_moved=int(np.count_nonzero(gallery.moved[members])),
        images=_pictures(gallery, members[offset : offset + limit]),
    )


def _pictures(gallery: Gallery, positions: Indexes) -> list[PictureOut]:
    return [PictureOut(**asdict(one)) for one in gallery.images(positions)]
