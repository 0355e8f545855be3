"""Routes for asking and answering."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from likewise.desk.desk import Desk
from likewise.desk.openness import also_settled
from likewise.server.replies import AnswerOut, MoveOut, QuestionsOut, at_once
from likewise.server.shapes import AnswerIn, MoveIn, Words
from likewise.server.views import Views

_AHEAD = 4  # questions in the reply to an answer
Some = Annotated[int, Query(ge=1, le=50)]


def asking(desk: Desk) -> APIRouter:
    """Return the routes."""
    router, views = APIRouter(prefix="/api"), Views(desk)

    @router.get("/questions")
    def next_questions(
        n: Some = 1, orientation: Words = "", who: Words = "", client: Words = ""
    ) -> QuestionsOut:
        """Return the next `n` questions; two clients get different ones."""
        sorting = desk.sorting(orientation)
        questions = views.questions(sorting, n, client or who)
        return QuestionsOut(orientation=sorting.name, questions=questions)

    @router.post("/answers", status_code=201, response_model=AnswerOut)
    def give_answer(given: AnswerIn) -> Response:
        """Take in one answer; it is on disk before the reply, which brings the next questions."""
        sorting = desk.sorting(given.orientation)
        question = given.question.to_question()
        more = _AHEAD, given.client or given.who
        reply = desk.answer(sorting.name, question, given.answer, given.who, given.seconds, more)
        conflict = reply.conflict
        made = AnswerOut(
            id=reply.told.id,
            taken=reply.told.accepted,
            n_settled=reply.told.n_settled,
            n_also=also_settled(question, reply.told),
            guessed=reply.guessed,
            conflict=None if conflict is None else views.conflict(conflict, sorting.results),
            n_answers=sum(sorting.tally().values()),
            questions=[views.question(one, sorting) for one in reply.questions],
        )
        return at_once(made, 201)

    @router.post("/moves", status_code=201)
    def move(given: MoveIn) -> MoveOut:
        """Put pictures into a group; each is an answer in the log."""
        sorting = desk.sorting(given.orientation)
        told = desk.move(sorting.name, given.images, given.group, given.who)
        return MoveOut(**views.moved(told, sorting))

    return router
