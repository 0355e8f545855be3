"""Review answers: the log, retraction, label issues and violated answers."""

from typing import Annotated

from fastapi import APIRouter, Query

from likewise.server.models import (
    AnswersResponse,
    EntryResponse,
    LabelIssueResponse,
)
from likewise.server.presenters import Presenter
from likewise.server.routes import AnswerId, By, Who
from likewise.session.log import ANSWERS, RETRACT
from likewise.workspace.workspace import Workspace

Limit = Annotated[int, Query(ge=1, le=500, description="Entries to return.")]
Offset = Annotated[int, Query(ge=0, le=2**53, description="Entries to skip.")]
Search = Annotated[str, Query(max_length=200, description="Words that an entry must contain.")]


def answers_router(workspace: Workspace) -> APIRouter:
    """Return the routes for the answer log."""
    router, presenter = APIRouter(tags=["answers"]), Presenter(workspace)

    @router.get("/answers")
    def list_answers(
        by: By = "",
        search: Search = "",
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> AnswersResponse:
        """Return the entries of the log that contain all words of `search`, newest first."""
        listed = _entries(workspace, presenter, workspace.criterion(by).name)
        found = [entry for entry in listed if _matches(entry, search)]
        retracted = [entry.retracted for entry in found if entry.kind in ANSWERS]
        return AnswersResponse(
            n=len(found),
            n_active=len(retracted) - sum(retracted),
            n_retracted=sum(retracted),
            answers=found[offset : offset + limit],
        )

    @router.delete("/answers/{id}")
    def retract_answer(answer_id: AnswerId, by: By = "", who: Who = "") -> EntryResponse:
        """Retract an answer or a change of a group; retracting a retraction restores the entry."""
        return presenter.entry(workspace.criterion(by).retract(answer_id, who), retracted=True)

    @router.post("/answers/{id}/confirm", status_code=204)
    def confirm_answer(answer_id: AnswerId, by: By = "", who: Who = "") -> None:
        """Confirm an answer listed as a label issue: it is not listed again; undo reverts this."""
        workspace.criterion(by).confirm(answer_id, who)

    @router.get("/label_issues")
    def list_label_issues(by: By = "") -> list[LabelIssueResponse]:
        """Return answers that the model finds unlikely, the most suspicious first."""
        return [presenter.label_issue(one) for one in workspace.criterion(by).review.label_issues()]

    @router.get("/violations")
    def list_violations(by: By = "") -> list[EntryResponse]:
        """Return active answers that the groups do not satisfy.

        This happens only where the answers separate more groups than there are.
        """
        return [
            presenter.entry(entry) for entry in workspace.criterion(by).review.violated_answers()
        ]

    return router


def _entries(workspace: Workspace, presenter: Presenter, criterion: str) -> list[EntryResponse]:
    """Return all entries of the log except retractions, newest first."""
    conflicts = workspace.session.graph(criterion).conflicts
    entries = workspace.session.entries(criterion)
    retractions = {one.retracts: one.id for one, active in entries if one.retracts and active}
    return [
        presenter.entry(
            one,
            retracted=not active,
            is_conflict=one.id in conflicts,
            retracted_by=retractions.get(one.id),
        )
        for one, active in reversed(entries)
        if one.kind != RETRACT
    ]


def _matches(entry: EntryResponse, search: str) -> bool:
    text = " ".join([entry.text, entry.who, entry.at, str(entry.id), *entry.names]).lower()
    return all(word in text for word in search.lower().split())
