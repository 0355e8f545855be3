"""What the training child makes of a session, without a process of its own."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import make_blobs

from likewise.constraints.question import Answer, Question, Relation
from likewise.desk.messages import Message
from likewise.desk.past import FILE
from likewise.desk.pupil import Pupil, Vectors
from likewise.embedding.embeddings import Embeddings
from likewise.session import Session
from tests.session.pictures import pictures

SLIP, LOST = 5, 2  # an image that is said to be of the other group; one that has no vector


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Two groups, image by image in turn, and 35 answers of which one is wrong."""
    session = Session.create(tmp_path / "two.likewise", pictures(60))
    session.add_criterion("colour", 2)
    session.tell(Answer(Question.pair(0, 1), "different", criterion="colour"))
    for image in range(3, 37):
        is_same = (image % 2 == 0) != (image == SLIP)
        word = "same" if is_same else "different"
        session.tell(Answer(Question.pair(0, image), word, criterion="colour"))
    return session


def pupil_of(session: Session, said: list[Message]) -> Pupil:
    torch.set_num_threads(1)
    X, _ = make_blobs([30, 30], n_features=8, shuffle=False, random_state=0)
    rows = np.concatenate(list(zip(X[:30], X[30:], strict=True)))  # in turn
    there = np.array([i for i in range(60) if i != LOST])
    vectors = Vectors(Embeddings({"x": rows[there].astype(np.float32)}), there, 60)
    return Pupil(session, session.criterion("colour"), vectors, said.append)


def study(pupil: Pupil, session: Session, said: list[Message]) -> tuple[list[Message], bool]:
    """Return the suspects that a round of study names, and whether it trained."""
    said.clear()
    pupil.study(session.criterion("colour"))
    (end,) = (one for one in said if one["event"] == "trained")
    return end["suspects"], any(one["event"] == "training" for one in said)


def test_an_answer_that_a_person_stands_by_is_trusted_also_after_a_restart(
    session: Session,
) -> None:
    said: list[Message] = []
    pupil = pupil_of(session, said)
    (suspect,), _ = study(pupil, session, said)
    (number,) = (
        n for n, a in session.graph("colour").answers.items() if a.question.images == (0, SLIP)
    )
    assert (suspect["answer"], suspect["image"]) == (number, SLIP)
    row = SLIP - 1  # one before it has no vector
    assert pupil.model._doubts.chances[row] > 0.2

    session.confirm("colour", number, [SLIP])
    assert study(pupil, session, said) == ([], True)  # it trained anew, for this alone
    assert study(pupil, session, said) == ([], False)
    assert pupil.model._doubts.chances[row] == 0
    again = pupil_of(session, said)
    assert study(again, session, said) == ([], True)
    assert again.model._doubts.chances[row] == 0


def test_what_it_said_before_answers_came_makes_it_less_sure_also_after_a_restart(
    session: Session,
) -> None:
    said: list[Message] = []
    pupil = pupil_of(session, said)
    study(pupil, session, said)
    assert pupil.model._temperature == 1  # all was told at once: that is no test
    for image in range(40, 60):  # half of them against all that went before
        word = "same" if image % 4 < 2 else "different"
        session.tell(Answer(Question.pair(0, image), word, criterion="colour"))
    study(pupil, session, said)
    temperature = pupil.model._temperature
    assert temperature > 1.2
    again = pupil_of(session, said)
    study(again, session, said)
    assert again.model._temperature == temperature

    (session.model_folder("colour") / FILE).write_bytes(b"PK\x03\x04")
    study(pupil_of(session, said), session, said)


def test_it_can_learn_without_leaving_a_trace(session: Session) -> None:
    said: list[Message] = []
    session.make_groups("colour", ["dusk", "dawn"])
    for image, key in [(40, "g2"), (41, "g1")]:
        session.tell(Answer(Question.label(image), key, criterion="colour"))
    pupil = pupil_of(session, said)
    assert pupil.learn() == ("g1", "g2")
    assert said == []
    assert not session.model_folder("colour").exists()
    assert pupil.model.labels_[39] == 1  # the number of its group, whatever the model called it
    kept = pupil_of(session, said)
    study(kept, session, said)
    np.testing.assert_array_equal(pupil.model.labels_, kept.model.labels_)
    assert session.model_folder("colour").exists()


def test_groups_that_became_one_are_one_to_the_model_until_that_is_undone(
    session: Session,
) -> None:
    said: list[Message] = []
    session.make_groups("colour", ["dusk", "dawn"])
    for image, key in [(40, "g1"), (41, "g2")]:
        session.tell(Answer(Question.label(image), key, criterion="colour"))
    pupil = pupil_of(session, said)
    study(pupil, session, said)

    def relation() -> Relation:
        return pupil.model.constraints_.relation(39, 40)  # one before them has no vector

    assert relation() is Relation.DIFFERENT
    session.change_group("colour", "g2", merge_into="g1")
    assert study(pupil, session, said)[1]
    assert relation() is Relation.SAME
    assert not study(pupil, session, said)[1]
    session.undo("colour")
    assert study(pupil, session, said)[1]
    assert relation() is Relation.DIFFERENT


def test_what_was_taken_back_or_set_aside_confirms_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Message] = []
    pupil = pupil_of(session, said)
    numbers = list(session.graph("colour").answers)
    against = session.tell(Answer(Question.pair(0, 6), "different", criterion="colour"))
    assert not against.accepted
    session.confirm("colour", against.id, [6])
    session.confirm("colour", numbers[0], [LOST])  # which the trainer does not know
    session.confirm("colour", numbers[2], [SLIP])
    study(pupil, session, said)
    assert pupil.model._doubts.confirmed == {SLIP - 1}
    session.retract(numbers[2])
    study(pupil, session, said)
    assert pupil.model._doubts.confirmed == set()
    assert len(session.confirmed("colour")) == 3
    monkeypatch.setattr(
        session, "confirmed", lambda _: {numbers[1]: (60,)}
    )  # a picture found since
    study(pupil, session, said)
    assert pupil.model._doubts.confirmed == set()
