import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from likewise.errors import SessionError
from likewise.session import Session
from likewise.session.database import Database

SYNCHRONOUS_FULL = 2


def test_a_commit_returns_after_its_sync(session: Session) -> None:
    """A power cut cannot be tried here; what SQLite promises for these two settings can be read."""
    assert session._database.rows("PRAGMA synchronous") == [(SYNCHRONOUS_FULL,)]
    assert session._database.rows("PRAGMA journal_mode") == [("wal",)]


def test_a_transaction_is_written_whole_or_not_at_all(path: Path) -> None:
    def add(name: str, error: type[BaseException] | None) -> None:
        with store.transaction() as db:
            db.execute(
                "INSERT INTO criterion VALUES (NULL, ?, NULL, 0, ?, NULL, NULL)", (name, name)
            )
            if error is not None:
                raise error

    with closing(Database(path, write=True)) as store:
        with pytest.raises(KeyboardInterrupt):
            add("mood", KeyboardInterrupt)
        assert store.rows("SELECT name FROM criterion ORDER BY id") == [("season",)]
        add("mood", None)
        assert store.rows("SELECT name FROM criterion ORDER BY id") == [("season",), ("mood",)]


def test_the_log_refers_to_what_exists_only(session: Session) -> None:
    columns = "criterion, kind, retracts, who, at"
    insert = f"INSERT INTO log ({columns}) VALUES (?, 'retract', ?, '', '')"
    for values in [(99, 1), (1, 99)]:
        with pytest.raises(sqlite3.IntegrityError), session._database.transaction() as db:
            db.execute(insert, values)


def test_a_reader_changes_nothing(path: Path) -> None:
    before = (path / "session.sqlite3").read_bytes()
    with Session.open(path, write=False) as session:
        session.graph("season")
        with pytest.raises(SessionError, match="for reading only"):
            session.add_criterion("mood")
    assert (path / "session.sqlite3").read_bytes() == before


def test_strange_paths_are_accepted(tmp_path: Path, path: Path) -> None:
    strange = tmp_path / "what? is #this 100% \udcff.likewise"
    path.rename(strange)
    with Session.open(strange) as session:
        session.add_criterion("mood")
    with Session.open(strange, write=False) as session:
        assert [one.name for one in session.criteria] == ["season", "mood"]
