"""Routes of questions and answers: ask, answer, undo; list, retract and confirm answers."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from likewise.constraints.question import Question
from likewise.server.models import (
    AnswerResponse,
    AnswersResponse,
    EntryResponse,
    LabelIssueResponse,
    QuestionResponse,
    QuestionsResponse,
    UndoResponse,
)
from likewise.server.presenters import Presenter, json_response
from likewise.server.requests import AnswerRequest, UndoRequest
from likewise.server.routes import AnswerId, By, Signed, Who
from likewise.server.security import Person, name_of
from likewise.session.log import ANSWERS, RETRACT
from likewise.workspace.criterion import AnswerOutcome, CriterionSession
from likewise.workspace.team import with_repeated
from likewise.workspace.workspace import Workspace

_N_NEXT = 4  # questions in the response to an answer
Count = Annotated[int, Query(ge=1, le=50, description="Questions to return.")]
Client = Annotated[str, Query(max_length=200, description="Any id; default: `who`.")]


def questions_router(workspace: Workspace) -> APIRouter:
    """Return the routes for questions and answers."""
    router, presenter = APIRouter(tags=["questions"]), Presenter(workspace)

    @router.get("/questions")
    def list_questions(
        signed: Signed, n: Count = 1, by: By = "", who: Who = "", client: Client = ""
    ) -> QuestionsResponse:
        """Return the next `n` questions; different clients get different ones."""
        criterion = workspace.criterion(by)
        asked = criterion.questions(n, client or name_of(signed, who))
        questions = _presented(workspace, presenter, criterion, signed, asked)
        return QuestionsResponse(criterion=criterion.name, questions=questions)

    @router.post("/answers", status_code=201, response_model=AnswerResponse)
    def answer_question(request: AnswerRequest, signed: Signed) -> Response:
        """Store an answer; it is on disk before the response, which has the next questions."""
        criterion = workspace.criterion(request.criterion)
        question = _question(request, criterion)
        outcome = criterion.answer(
            question,
            request.answer,
            name_of(signed, request.who),
            request.seconds,
            ticked=request.ticked,
            n_next=_N_NEXT,
            client=request.client,
        )
        body = _answer_response(presenter, question, outcome, criterion)
        body.questions = _presented(workspace, presenter, criterion, signed, outcome.questions)
        return json_response(body, 201)

    @router.post("/undo")
    def undo(signed: Signed, request: UndoRequest | None = None) -> UndoResponse:
        """Undo the newest action, or that of an entry; can be repeated, also after a restart."""
        request = request or UndoRequest()
        criterion = workspace.criterion(request.criterion)
        who = request.who if signed is None else signed.name
        if signed is not None and signed.role == "answer" and request.entry is not None:
            _check_own(workspace, criterion.name, request.entry, signed.name)
        entry = criterion.undo(who, request.entry)
        if entry is None:
            return UndoResponse(entry=None, question=None)
        question = None
        if entry.is_answer:
            asked = workspace.session.as_answer(entry).question
            question = presenter.question(asked, criterion)
        return UndoResponse(entry=presenter.entry(entry, retracted=True), question=question)

    return router


def _presented(
    workspace: Workspace,
    presenter: Presenter,
    criterion: CriterionSession,
    signed: Person | None,
    questions: Sequence[Question],
) -> list[QuestionResponse]:
    """Return questions as shown; a person with a link also gets some that others answered."""
    if signed is not None:
        questions = with_repeated(workspace.session, criterion.name, signed.name, questions)
    return [presenter.question(one, criterion) for one in questions]


def _check_own(workspace: Workspace, criterion: str, number: int, who: str) -> None:
    """Raise unless an entry of the log is by this person, who may undo only their own."""
    entries = workspace.session.entries(criterion)
    if not any(entry.id == number and entry.who == who for entry, _ in entries):
        raise HTTPException(403, "You can undo your own answers only; ask a reviewer.")


def _question(request: AnswerRequest, criterion: CriterionSession) -> Question:
    """Return the question of an answer; a grid may come without a representative."""
    asked = request.question
    images = tuple(asked.images)
    if asked.kind == "grid":
        if asked.representative is None and len(asked.groups) == 1:
            return criterion.grid_question(images, asked.groups[0], request.ticked)
        images = (*images, *([] if asked.representative is None else [asked.representative]))
    return Question.build(asked.kind, images, tuple(asked.groups))


def _answer_response(
    presenter: Presenter, question: Question, outcome: AnswerOutcome, criterion: CriterionSession
) -> AnswerResponse:
    result, conflict = outcome.result, outcome.conflict
    return AnswerResponse(
        id=result.id,
        accepted=result.accepted,
        n_relations=result.n_settled,
        n_implied=result.n_implied(question),
        conflict=None if conflict is None else presenter.conflict(conflict, criterion),
        n_answers=criterion.status.n_answers,
        questions=[presenter.question(one, criterion) for one in outcome.questions],
    )


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
        found = _entries(workspace, presenter, workspace.criterion(by).name, search)
        retracted = [entry.retracted for entry in found if entry.kind in ANSWERS]
        return AnswersResponse(
            n=len(found),
            n_active=len(retracted) - sum(retracted),
            n_retracted=sum(retracted),
            answers=found[offset : offset + limit],
        )

    @router.delete("/answers/{id}")
    def retract_answer(
        answer_id: AnswerId, signed: Signed, by: By = "", who: Who = ""
    ) -> EntryResponse:
        """Retract an answer or a change of a group; retracting a retraction restores the entry."""
        who = name_of(signed, who)
        entry, retraction = workspace.criterion(by).retract(answer_id, who)
        return presenter.entry(entry, retracted=True, retracted_by=retraction)

    @router.post("/answers/{id}/confirm", status_code=204)
    def confirm_answer(answer_id: AnswerId, signed: Signed, by: By = "", who: Who = "") -> None:
        """Confirm an answer listed as a label issue: it is not listed again; undo reverts this."""
        workspace.criterion(by).confirm(answer_id, name_of(signed, who))

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


def _entries(
    workspace: Workspace, presenter: Presenter, criterion: str, search: str
) -> list[EntryResponse]:
    """Return the entries of the log that match, except retractions, newest first."""
    conflicts = workspace.session.graph(criterion).conflicts
    entries = workspace.session.entries(criterion)
    retractions = {one.retracts: one.id for one, active in entries if one.retracts and active}
    presented = (
        presenter.entry(
            one,
            retracted=not active,
            is_conflict=one.id in conflicts,
            retracted_by=retractions.get(one.id),
        )
        for one, active in reversed(entries)
        if one.kind != RETRACT
    )
    return [entry for entry in presented if _matches(entry, search)]


def _matches(entry: EntryResponse, search: str) -> bool:
    text = " ".join([entry.text, entry.who, entry.at, str(entry.id), *entry.names]).lower()
    return all(word in text for word in search.lower().split())
