"""Ask and answer: `GET /api/questions`, `POST /api/answers`, `POST /api/undo`."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from likewise.constraints.question import Question
from likewise.server.models import (
    AnswerRequest,
    AnswerResponse,
    QuestionsResponse,
    UndoRequest,
    UndoResponse,
)
from likewise.server.presenters import Presenter, json_response
from likewise.server.routes import By, Who
from likewise.workspace.criterion import AnswerOutcome, CriterionSession
from likewise.workspace.question_queue import n_implied
from likewise.workspace.workspace import Workspace

_N_NEXT = 4  # questions in the response to an answer
Count = Annotated[int, Query(ge=1, le=50, description="Questions to return.")]
Client = Annotated[str, Query(max_length=200, description="Any id; default: `who`.")]


def questions_router(workspace: Workspace) -> APIRouter:
    """Return the routes for questions and answers."""
    router, presenter = APIRouter(tags=["questions"]), Presenter(workspace)

    @router.get("/questions")
    def list_questions(
        n: Count = 1, by: By = "", who: Who = "", client: Client = ""
    ) -> QuestionsResponse:
        """Return the next `n` questions; different clients get different ones."""
        criterion = workspace.criterion(by)
        questions = presenter.questions(criterion, n, client or who)
        return QuestionsResponse(criterion=criterion.name, questions=questions)

    @router.post("/answers", status_code=201, response_model=AnswerResponse)
    def answer_question(request: AnswerRequest) -> Response:
        """Store an answer; it is on disk before the response, which has the next questions."""
        criterion = workspace.criterion(request.criterion)
        asked = request.question
        question = Question.build(asked.kind, tuple(asked.images), tuple(asked.groups))
        outcome = criterion.answer(
            question,
            request.answer,
            request.who,
            request.seconds,
            n_next=_N_NEXT,
            client=request.client,
        )
        body = _answer_response(presenter, question, outcome, criterion)
        return json_response(body, 201)

    @router.post("/undo")
    def undo(request: UndoRequest | None = None) -> UndoResponse:
        """Undo the newest entry of the log; can be repeated, also after a restart."""
        request = request or UndoRequest()
        criterion = workspace.criterion(request.criterion)
        entry = criterion.undo(request.who)
        if entry is None:
            return UndoResponse(entry=None, question=None)
        question = None
        if entry.is_answer:
            asked = workspace.session.as_answer(entry).question
            question = presenter.question(asked, criterion)
        return UndoResponse(entry=presenter.entry(entry, retracted=True), question=question)

    return router


def _answer_response(
    presenter: Presenter, question: Question, outcome: AnswerOutcome, criterion: CriterionSession
) -> AnswerResponse:
    result, conflict = outcome.result, outcome.conflict
    return AnswerResponse(
        id=result.id,
        accepted=result.accepted,
        n_relations=result.n_settled,
        n_implied=n_implied(question, result),
        predicted=outcome.predicted,
        conflict=None if conflict is None else presenter.conflict(conflict, criterion),
        n_answers=criterion.status.n_answers,
        questions=[presenter.question(one, criterion) for one in outcome.questions],
    )
