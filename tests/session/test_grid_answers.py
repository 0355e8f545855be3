"""A grid in the session: one entry of the log, with everything that an answer can do."""

import json
from pathlib import Path

import pytest

from likewise.constraints.question import BAD_IMAGE, Answer, Question, Relation
from likewise.errors import AnswersFileError
from likewise.session import Session, export_answers, import_answers
from likewise.session.create import repair
from likewise.session.results import pinned_columns
from tests.session.pictures import pictures

GRID = Answer(
    Question.grid((1, 2, 3, 4), 0, "g1"), "ticked", "ann", "season", "now", 6.5, ticked=(3,)
)


def test_a_grid_is_one_entry_and_one_undo_and_survives_a_restart(path: Path) -> None:
    with Session.open(path) as session:
        told = session.tell(GRID)
        assert (told.accepted, told.n_settled) == (True, 10)
    with Session.open(path) as session:
        (entry,) = session.answers("season")
        assert session.as_answer(entry) == GRID
        assert session.graph("season").relation(1, 3) is Relation.DIFFERENT
        assert session.undo("season") == entry
        assert session.graph("season").relation(1, 2) is Relation.UNKNOWN
        session.retract(session.last_entry("season"))  # restores it
        assert session.graph("season").relation(1, 2) is Relation.SAME


def test_a_partial_conflict_keeps_the_other_images_after_a_restart(path: Path) -> None:
    with Session.open(path) as session:
        session.tell(Answer(Question.pair(0, 2), "different", criterion="season"))
        told = session.tell(GRID)
        assert (told.accepted, told.excluded) == (False, (2,))
    with Session.open(path) as session:
        graph = session.graph("season")
        assert graph.excluded == {told.id: (2,)}
        assert graph.relation(1, 4) is Relation.SAME
        session.retract(1)  # the answer that it contradicts
        assert session.graph("season").relation(1, 2) is Relation.SAME
        assert not session.graph("season").conflicts


def test_the_images_left_in_the_group_are_placed_in_it(session: Session) -> None:
    session.make_group("season", name="winter")
    session.tell(GRID)
    answers = session.graph("season").active_answers
    pinned = pinned_columns(answers, session.groups("season"), ("g0", "g1"))
    assert pinned == {1: 1, 2: 1, 4: 1}


def test_an_exported_grid_can_be_imported_into_another_session(
    session: Session, tmp_path: Path
) -> None:
    session.tell(GRID)
    export_answers(session, tmp_path / "answers.jsonl")
    line = json.loads((tmp_path / "answers.jsonl").read_text())
    hashes = session.images.hashes
    assert (line["kind"], line["group"], line["answer"]) == ("grid", "g1", "ticked")
    assert line["images"] == [hashes[i] for i in (1, 2, 3, 4, 0)]
    assert line["ticked"] == [hashes[3]]
    with Session.create(tmp_path / "other.likewise", pictures(20)) as other:
        other.add_criterion("season")
        assert import_answers(other, tmp_path / "answers.jsonl").n_imported == 1
        assert import_answers(other, tmp_path / "answers.jsonl").n_duplicates == 1
        assert other.as_answer(other.answers("season")[0]) == GRID
        other.tell(Answer(Question.pair(5, 6), "different", criterion="season"))


def test_an_import_reports_a_grid_that_partly_contradicts(session: Session, tmp_path: Path) -> None:
    session.tell(GRID)
    export_answers(session, tmp_path / "answers.jsonl")
    session.undo("season")
    session.tell(Answer(Question.pair(0, 1), "different", criterion="season"))
    line = json.loads((tmp_path / "answers.jsonl").read_text()) | {"who": "bob"}
    (tmp_path / "new.jsonl").write_text(json.dumps(line))
    with pytest.raises(AnswersFileError, match="contradicts earlier answers"):
        import_answers(session, tmp_path / "new.jsonl")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ticked": "all"}, "'ticked' must be a list of strings"),
        ({"ticked": ["c0ffee"]}, "c0ffee is not in this collection"),
        ({"group": None}, "'group' must be a string"),
        ({"answer": "same"}, "must be one of ticked"),
        ({"images": []}, "must have one group, and images"),
    ],
)
def test_an_invalid_line_of_a_grid_is_not_imported(
    session: Session, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    session.tell(GRID)
    export_answers(session, tmp_path / "answers.jsonl")
    line = json.loads((tmp_path / "answers.jsonl").read_text()) | changes
    (tmp_path / "bad.jsonl").write_text(json.dumps(line))
    with pytest.raises(AnswersFileError, match=message):
        import_answers(session, tmp_path / "bad.jsonl")


def test_a_lost_database_is_rebuilt_with_the_ticks(path: Path) -> None:
    bad = Answer(Question.grid((5, 6), 0, "g1"), BAD_IMAGE, "ann", "season", "now", ticked=(6,))
    with Session.open(path) as session:
        session.tell_all([GRID, bad])
    (path / "session.sqlite3").unlink()
    repair(path)
    with Session.open(path) as session:
        assert [session.as_answer(entry) for entry in session.answers("season")] == [GRID, bad]
        assert session.graph("season").bad_images == {6}
