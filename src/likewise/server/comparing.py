"""Route for two ways to sort, side by side."""

from typing import Annotated

from fastapi import APIRouter, Query

from likewise.server.found import CellOut, CompareOut, GroupName
from likewise.server.shapes import Words
from likewise.session.groups import Group
from likewise.workspace.gallery import Comparison, compare
from likewise.workspace.workspace import Workspace

Some = Annotated[int, Query(ge=0, le=50)]


def comparing(workspace: Workspace) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/api")

    @router.get("/compare")
    def side_by_side(second: Words, first: Words = "", limit: Some = 6) -> CompareOut:
        """Return the groups of two orientations as a table, with pictures that are in both."""
        one, other = workspace.criterion(first), workspace.criterion(second)
        found = compare(one.status.gallery(), other.status.gallery(), limit)
        return _compared(found, one.name, other.name)

    return router


def _compared(found: Comparison, first: str, second: str) -> CompareOut:
    return CompareOut(
        first=first,
        second=second,
        rows=[_named(group) for group in found.rows],
        columns=[_named(group) for group in found.columns],
        cells=[
            [CellOut(n=n, images=shown.tolist()) for n, shown in zip(ns, line, strict=True)]
            for ns, line in zip(found.counts.tolist(), found.images, strict=True)
        ],
        n_images=found.n_images,
        nmi=round(found.nmi, 4),
        ari=round(found.ari, 4),
    )


def _named(group: Group) -> GroupName:
    return GroupName(key=group.key, name=group.name, colour=group.colour)
