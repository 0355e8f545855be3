"""Routes for putting right: groups split off, answers looked at again, answers not honoured."""

from typing import Annotated

from fastapi import APIRouter, Path

from likewise.server.replies import DoubtOut, EntryOut, SplitOut
from likewise.server.shapes import SplitIn, Words
from likewise.server.views import Views
from likewise.workspace.workspace import Workspace

Id = Annotated[int, Path(ge=0, le=2**53)]


def correcting(desk: Workspace) -> APIRouter:
    """Return the routes."""
    router, views = APIRouter(prefix="/api"), Views(desk)

    @router.post("/groups", status_code=201)
    def split_off(given: SplitIn) -> SplitOut:
        """Make a new group of pictures; each is an answer in the log."""
        sorting = desk.sorting(given.orientation)
        key, told = desk.split(sorting.name, given.images, given.name, given.who)
        return SplitOut(key=key, **views.moved(told, sorting))

    @router.get("/suspects")
    def suspects(orientation: Words = "") -> list[DoubtOut]:
        """Return answers that the rest makes doubtful, the most doubtful first."""
        return [views.doubt(one) for one in desk.sorting(orientation).doubts()]

    @router.post("/suspects/{number}", status_code=204)
    def confirm(number: Id, orientation: Words = "", who: Words = "") -> None:
        """Say that an answer was meant as it is: it is not offered again, and is trusted.

        Undo takes that back.
        """
        desk.confirm(orientation, number, who)

    @router.get("/violations")
    def violations(orientation: Words = "") -> list[EntryOut]:
        """Return the answers that the groups as they are shown do not honour."""
        return [views.entry(entry) for entry in desk.sorting(orientation).violations()]

    return router
