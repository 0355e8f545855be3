"""Routes for asking and answering."""

from typing import Annotated

from fastapi import APIRouter, Query

from likewise.desk.desk import Desk
from likewise.server.shapes import (
    AnswerIn,
    AnswerOut,
    MoveIn,
    MoveOut,
    QuestionsOut,
    Words,
)
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

    @router.post("/answers", status_code=201)
    def give_answer(given: AnswerIn) -> AnswerOut:
        """Take in one answer; it is on disk before the reply, which brings the next questions."""
        sorting = desk.sorting(given.orientation)
        question = given.question.to_question()
        reply = desk.answer(sorting.name, question, given.answer, given.who, given.seconds)
        return AnswerOut(
            id=reply.told.id,
            taken=reply.told.taken,
            n_settled=reply.told.n_settled,
            guessed=reply.guessed,
            conflict=None if reply.conflict is None else views.conflict(reply.conflict),
            n_answers=desk.session.graph(sorting.name).n_answers,
            questions=views.questions(sorting, _AHEAD, given.client or given.who),
        )

    @router.post("/moves", status_code=201)
    def move(given: MoveIn) -> MoveOut:
        """Put pictures into a group; each is an answer in the log."""
        sorting = desk.sorting(given.orientation)
        told = desk.move(sorting.name, given.images, given.group, given.who)
        aside = {one.id for one in told if not one.taken}
        found = [one for one in sorting.conflicts() if one.entry.id in aside]
        return MoveOut(
            n_taken=sum(one.taken for one in told),
            n_settled=sum(one.n_settled for one in told),
            conflicts=[views.conflict(one) for one in found],
        )

    return router
