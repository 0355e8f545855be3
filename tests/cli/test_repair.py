import json
from pathlib import Path

import pytest

from likewise.constraints.question import Answer, Question
from likewise.images.files import read_folder
from likewise.session import Session
from tests.cli.conftest import Run, done, error_of, json_of


@pytest.fixture
def session(photos: Path) -> Path:
    """A session with a criterion and one answer."""
    path = photos.with_name("photos.likewise")
    with Session.create(path, read_folder(photos)) as opened:
        opened.add_criterion("colour", 3)
        opened.tell(Answer(Question.pair(0, 1), "different", criterion="colour"))
    return path


def test_repair_rebuilds_a_damaged_session(session: Path, run: Run) -> None:
    database = session / "session.sqlite3"
    database.write_bytes(b"x" * database.stat().st_size)
    assert "likewise repair" in error_of(run, "answers", session)
    result = done(run("repair", session))
    assert "1 log entry restored from the journal" in result.stdout
    assert "kept as damaged-1.session.sqlite3" in result.stdout
    (line,) = done(run("answers", session)).stdout.splitlines()
    assert json.loads(line)["answer"] == "different"


def test_repair_says_that_a_session_is_not_damaged(session: Path, run: Run) -> None:
    assert "is not damaged" in done(run("repair", session)).stdout
    found = json_of(run("repair", session, "--json"))
    assert found == {"n_entries": 1, "rebuilt": False, "invalid_lines": [], "kept": None}


def test_repair_of_no_session_is_an_error(tmp_path: Path, run: Run) -> None:
    assert "does not exist" in error_of(run, "repair", tmp_path / "none")
    assert "contains no answers.jsonl" in error_of(run, "repair", tmp_path)


def test_tables_are_raw_only_on_request(session: Path, run: Run) -> None:
    with Session.open(session) as opened:
        opened.tell(Answer(Question.label(3), "=1+1", criterion="colour"))
    assert ",'=1+1," in done(run("answers", session, "--to", "csv")).stdout
    assert ",=1+1," in done(run("answers", session, "--to", "csv", "--raw")).stdout
