"""Routes for putting right: groups split off, answers looked at again, answers not honoured."""

from typing import Annotated

from fastapi import APIRouter, Path

from likewise.server.replies import DoubtOut, EntryOut, SplitOut
from likewise.server.shapes import SplitIn, Words
from likewise.server.views import Views
from likewise.workspace.workspace import Workspace

Id = Annotated[int, Path(ge=0, le=2**53)]


def correcting(workspace: Workspace) -> APIRouter:
    """Return the routes."""
    router, views = APIRouter(prefix="/api"), Views(workspace)

    @router.post("/groups", status_code=201)
    def split_off(given: SplitIn) -> SplitOut:
        """Make a new group of pictures; each is an answer in the log."""
        criterion = workspace.criterion(given.orientation)
        key, told = criterion.split_group(given.images, given.name, given.who)
        return SplitOut(key=key, **views.moved(told, criterion))

    @router.get("/suspects")
    def suspects(orientation: Words = "") -> list[DoubtOut]:
        """Return answers that the rest makes doubtful, the most doubtful first."""
        return [views.doubt(one) for one in workspace.criterion(orientation).review.label_issues()]

    @router.post("/suspects/{number}", status_code=204)
    def confirm(number: Id, orientation: Words = "", who: Words = "") -> None:
        """Say that an answer was meant as it is: it is not offered again, and is trusted.

        Undo takes that back.
        """
        workspace.criterion(orientation).confirm(number, who)

    @router.get("/violations")
    def violations(orientation: Words = "") -> list[EntryOut]:
        """Return the answers that the groups as they are shown do not honour."""
        return [
            views.entry(entry)
            for entry in workspace.criterion(orientation).review.violated_answers()
        ]

    return router
