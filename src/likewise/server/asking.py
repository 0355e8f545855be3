"""Routes for asking and answering."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from likewise.server.replies import AnswerOut, MoveOut, QuestionsOut, at_once
from likewise.server.shapes import AnswerIn, MoveIn, Words
from likewise.server.views import Views
from likewise.workspace.question_queue import n_implied
from likewise.workspace.workspace import Workspace

_AHEAD = 4  # questions in the reply to an answer
Some = Annotated[int, Query(ge=1, le=50)]


def asking(workspace: Workspace) -> APIRouter:
    """Return the routes."""
    router, views = APIRouter(prefix="/api"), Views(workspace)

    @router.get("/questions")
    def next_questions(
        n: Some = 1, orientation: Words = "", who: Words = "", client: Words = ""
    ) -> QuestionsOut:
        """Return the next `n` questions; two clients get different ones."""
        criterion = workspace.criterion(orientation)
        questions = views.questions(criterion, n, client or who)
        return QuestionsOut(orientation=criterion.name, questions=questions)

    @router.post("/answers", status_code=201, response_model=AnswerOut)
    def give_answer(given: AnswerIn) -> Response:
        """Take in one answer; it is on disk before the reply, which brings the next questions."""
        criterion = workspace.criterion(given.orientation)
        question = given.question.to_question()
        reply = criterion.answer(
            question,
            given.answer,
            given.who,
            given.seconds,
            n_next=_AHEAD,
            client=given.client or given.who,
        )
        conflict = reply.conflict
        made = AnswerOut(
            id=reply.result.id,
            taken=reply.result.accepted,
            n_settled=reply.result.n_settled,
            n_also=n_implied(question, reply.result),
            guessed=reply.predicted,
            conflict=None if conflict is None else views.conflict(conflict, criterion),
            n_answers=criterion.status.n_answers,
            questions=[views.question(one, criterion) for one in reply.questions],
        )
        return at_once(made, 201)

    @router.post("/moves", status_code=201)
    def move(given: MoveIn) -> MoveOut:
        """Put pictures into a group; each is an answer in the log."""
        criterion = workspace.criterion(given.orientation)
        told = criterion.move_images(given.images, given.group, given.who)
        return MoveOut(**views.moved(told, criterion))

    return router
