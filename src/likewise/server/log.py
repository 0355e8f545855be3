"""Routes for what was said before: the log, taking back, undo."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from likewise.server.replies import AnswersOut, EntryOut, UndoOut
from likewise.server.shapes import UndoIn, Words
from likewise.server.views import Views
from likewise.session.log import ANSWERS, RETRACT
from likewise.workspace.workspace import Workspace

Some = Annotated[int, Query(ge=1, le=500)]
From = Annotated[int, Query(ge=0, le=2**53)]
Id = Annotated[int, Path(ge=0, le=2**53)]


def log(workspace: Workspace) -> APIRouter:
    """Return the routes."""
    router, views = APIRouter(prefix="/api"), Views(workspace)

    @router.get("/answers")
    def list_answers(
        orientation: Words = "", search: Words = "", limit: Some = 50, offset: From = 0
    ) -> AnswersOut:
        """Return the log, the newest first, as far as it holds the words searched for."""
        criterion = workspace.criterion(orientation)
        aside = workspace.session.graph(criterion.name).conflicts
        entries = workspace.session.entries(criterion.name)
        fell = {one.retracts: one.id for one, stands in entries if one.retracts and stands}
        found = [
            views.entry(one, stands=stands, aside=one.id in aside, taken_back_by=fell.get(one.id))
            for one, stands in reversed(entries)
            if one.kind != RETRACT
        ]
        fitting = [entry for entry in found if _fits(entry, search)]
        stands = [entry.stands for entry in fitting if entry.kind in ANSWERS]
        return AnswersOut(
            n=len(fitting),
            n_standing=sum(stands),
            n_taken_back=len(stands) - sum(stands),
            answers=fitting[offset : offset + limit],
        )

    @router.delete("/answers/{number}")
    def retract(number: Id, orientation: Words = "", who: Words = "") -> EntryOut:
        """Take back any answer, or any change of a group; of a take-back: bring it back."""
        return views.entry(workspace.criterion(orientation).retract(number, who), stands=False)

    @router.post("/undo")
    def undo(given: UndoIn | None = None) -> UndoOut:
        """Take back the newest answer; again and again, also after a restart."""
        given = given or UndoIn()
        criterion = workspace.criterion(given.orientation)
        entry = criterion.undo(given.who)
        if entry is None:
            return UndoOut(entry=None, question=None)
        question = None
        if entry.is_answer:
            question = views.question(workspace.session.as_answer(entry).question, criterion)
        return UndoOut(entry=views.entry(entry, stands=False), question=question)

    return router


def _fits(entry: EntryOut, words: str) -> bool:
    text = " ".join([entry.says, entry.who, entry.at, str(entry.id), *entry.names]).lower()
    return all(word in text for word in words.lower().split())
