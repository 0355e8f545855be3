"""A picture that was put into a group by name stays in the group of that name."""

import numpy as np

from likewise.constraints.question import Answer, Question
from likewise.session import Session, assignments, save_results


def clusters(session: Session) -> list[int]:
    return [row.cluster for row in assignments(session, "season")]


def put(session: Session, image: int, key: str, faces: dict[str, int]) -> None:
    question = Question.choice(image, tuple(faces.values()), tuple(faces))
    session.tell(Answer(question, key, criterion="season"))


def test_many_images_moved_into_a_group_do_not_change_the_group_of_others(session: Session) -> None:
    for _ in range(2):
        session.make_group("season")
    chances = np.array([[0.99, 0.01]] * 10 + [[0.01, 0.99]] * 10)
    save_results(session, "season", chances, keys=("g1", "g2"))
    for image in range(1, 6):
        put(session, image, "g2", {"g2": 15, "g1": 0})
    found = clusters(session)
    assert found[1:6] == [1] * 5
    assert found[0] == 0
    assert found[15] == 1
    assert save_results(session, "season", chances, keys=("g1", "g2")).labels[3] == 1


def test_without_keys_nothing_is_held(session: Session) -> None:
    chances = np.array([[0.99, 0.01]] * 10 + [[0.01, 0.99]] * 10)
    save_results(session, "season", chances)
    put(session, 1, "g2", {"g2": 15})
    assert len({clusters(session)[i] for i in (1, 15)}) == 1


def test_a_retracted_answer_implies_nothing(session: Session) -> None:
    chances = np.array([[0.99, 0.01]] * 10 + [[0.01, 0.99]] * 10)
    save_results(session, "season", chances, keys=("g1", "g2"))
    put(session, 1, "g2", {"g2": 15, "g1": 0})
    session.undo("season")
    assert clusters(session)[1] == 0
