"""Actions: entries that are written and undone together."""

from pathlib import Path

import numpy as np
import pytest

from likewise.constraints.question import Answer, Question, Relation
from likewise.errors import InvalidParameterError
from likewise.images.in_memory import ArrayCollection
from likewise.session import Session
from likewise.session.create import repair
from likewise.session.journal import JOURNAL


def pair(first: int, second: int, answer: str) -> Answer:
    return Answer(Question.pair(first, second), answer, criterion="season")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    pixels = np.random.default_rng(0).integers(0, 255, (6, 8, 8), dtype=np.uint8)
    session = Session.create(tmp_path / "a.likewise", ArrayCollection(pixels))
    session.add_criterion("season")
    return session


def correct(session: Session) -> int:
    """Answer 0 = 1, then correct it to 0 = 2 and 0 ≠ 1; return the id of the first answer."""
    first = session.tell(pair(0, 1, "same")).id
    session.act("season", [pair(0, 2, "same"), pair(0, 1, "different")], [first], who="ann")
    return first


def test_an_action_replaces_answers_and_one_undo_restores_them(session: Session) -> None:
    correct(session)
    graph = session.graph("season")
    assert graph.relation(0, 1) is Relation.DIFFERENT
    assert not graph.conflicts
    session.undo("season")
    assert [entry.answer for entry in session.answers("season")] == ["same"]
    assert session.graph("season").relation(0, 1) is Relation.SAME
    assert session.graph("season").relation(0, 2) is Relation.UNKNOWN


def test_an_action_is_undone_as_one_after_a_restart(session: Session) -> None:
    correct(session)
    session.close()
    with Session.open(session.path) as again:
        assert [entry.answer for entry in again.answers("season")] == ["same", "different"]
        again.undo("season")
        assert [entry.answer for entry in again.answers("season")] == ["same"]


def test_a_database_that_was_lost_is_rebuilt_with_its_actions(session: Session) -> None:
    correct(session)
    session.close()
    assert (session.path / JOURNAL).exists()
    (session.path / "session.sqlite3").unlink()
    repair(session.path)
    with Session.open(session.path) as again:
        again.undo("season")
        assert [entry.answer for entry in again.answers("season")] == ["same"]


def test_an_older_action_is_undone_by_the_id_of_any_of_its_entries(session: Session) -> None:
    first = correct(session)
    session.tell(pair(4, 5, "same"))
    undone = session.undo_action("season", first + 3)
    assert [entry.kind for entry in undone] == ["retract", "pair", "pair"]
    assert [entry.images for entry in session.answers("season")] == [
        tuple(session.images.hashes[i] for i in images) for images in ((0, 1), (4, 5))
    ]
    with pytest.raises(InvalidParameterError, match="already undone"):
        session.undo_action("season", first + 1)
    with pytest.raises(InvalidParameterError, match="Entry 99 is not in the log"):
        session.undo_action("season", 99)


def test_an_undo_is_itself_an_action_that_can_be_undone(session: Session) -> None:
    correct(session)
    session.undo("season")
    session.undo_action("season", session.last_entry("season"))
    assert [entry.answer for entry in session.answers("season")] == ["same", "different"]


def test_an_answer_retracted_on_its_own_stays_retracted(session: Session) -> None:
    first = correct(session)
    session.retract(first + 2)
    session.undo("season")
    assert [entry.id for entry in session.answers("season")] == [first]


def test_an_action_with_an_invalid_part_writes_nothing(session: Session) -> None:
    first = correct(session)
    before = session.last_entry("season")
    with pytest.raises(InvalidParameterError, match="already retracted"):
        session.act("season", [pair(3, 4, "same")], [first])
    with pytest.raises(InvalidParameterError, match="Image 9 is not in this session"):
        session.act("season", [pair(3, 9, "same")], [first + 2])
    assert session.last_entry("season") == before


def test_single_answers_in_a_row_are_single_actions(session: Session) -> None:
    session.tell_all([pair(0, 1, "same"), pair(2, 3, "same")])
    session.undo("season")
    assert len(session.answers("season")) == 1
