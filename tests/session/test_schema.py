import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from likewise.constraints.question import Relation
from likewise.errors import NewerSessionError, SessionError
from likewise.session import Session
from likewise.session.schema import APPLICATION_ID, MIGRATIONS, create_schema, migrate, read_version
from tests.session.pictures import content_hash


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        yield db


def tables(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return db.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


def at_version(folder: Path, version: int) -> None:
    """Write a session folder as the release with schema `version` left it."""
    folder.mkdir()
    with closing(sqlite3.connect(folder / "session.sqlite3", isolation_level=None)) as db:
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        migrate(db, MIGRATIONS[:version])
        if version >= 1:
            for i in range(3):
                db.execute(
                    "INSERT INTO image VALUES (?, ?, ?, 'present', NULL, NULL)",
                    (i, content_hash(str(i)), f"{i}.jpg".encode()),
                )
            table = "criterion" if version >= 3 else "orientation"
            columns = "(id, name, n_clusters, two_groups, folder)"
            values = "(1, 'season', 2, 0, '1-season')"
            db.execute(f"INSERT INTO {table} {columns} VALUES {values}")
            one, two, three = (content_hash(str(i)) for i in range(3))
            insert = (
                f'INSERT INTO log ({table}, kind, images, answer, "group", groups, who, at) '
                "VALUES (1, ?, ?, ?, ?, '[]', 'ann', '')"
            )
            db.execute(insert, ("pair", f'["{one}", "{two}"]', "same", None))
            db.execute(insert, ("label", f'["{three}"]', "winter", "winter"))


@pytest.mark.parametrize("version", range(len(MIGRATIONS) + 1))
def test_a_session_of_any_earlier_release_opens_with_everything_in_it(
    version: int, tmp_path: Path
) -> None:
    at_version(tmp_path / "old", version)
    with Session.open(tmp_path / "old") as session:
        assert session._database.rows("PRAGMA user_version") == [(len(MIGRATIONS),)]
        if version >= 1:
            assert [entry.answer for entry in session.answers("season")] == ["same", "winter"]
            assert session.graph("season").relation(0, 1) is Relation.SAME
        if version == 1:  # labels made groups only since schema 2
            assert [g.name for g in session.groups("season").all()] == ["winter"]


@pytest.mark.parametrize("version", range(len(MIGRATIONS)))
def test_every_way_to_the_newest_schema_ends_in_the_same_tables(
    version: int, db: sqlite3.Connection
) -> None:
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    migrate(db, MIGRATIONS[:version])
    migrate(db)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        create_schema(fresh)
        assert tables(db) == tables(fresh)
        assert read_version(db) == read_version(fresh) == len(MIGRATIONS)


def test_a_failed_step_does_not_change_the_file(db: sqlite3.Connection) -> None:
    create_schema(db)
    before = tables(db)
    broken = "CREATE TABLE half (a INTEGER) STRICT; INSERT INTO nowhere VALUES (1);"
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(db, [*MIGRATIONS, broken])
    assert tables(db) == before
    assert read_version(db) == len(MIGRATIONS)
    assert not db.in_transaction


@pytest.mark.parametrize("write", [True, False])
def test_a_file_of_a_newer_release_is_refused_and_not_changed(path: Path, write: bool) -> None:
    with closing(sqlite3.connect(path / "session.sqlite3")) as db:
        db.execute("PRAGMA user_version = 99")
    before = (path / "session.sqlite3").read_bytes()
    message = (
        rf"newer release \(schema 99, this release supports up to {len(MIGRATIONS)}\). Upgrade"
    )
    with pytest.raises(NewerSessionError, match=message):
        Session.open(path, write=write)
    assert (path / "session.sqlite3").read_bytes() == before


def test_reading_an_older_file_raises_an_error_that_asks_to_open_it_for_writing(
    tmp_path: Path,
) -> None:
    at_version(tmp_path / "old", 1)
    with pytest.raises(SessionError, match=r"older release \(schema 1.*open it once for writing"):
        Session.open(tmp_path / "old", write=False)
    Session.open(tmp_path / "old").close()
    Session.open(tmp_path / "old", write=False).close()


@pytest.mark.parametrize("write", [True, False])
def test_a_database_of_another_program_is_refused_unchanged(tmp_path: Path, write: bool) -> None:
    file = tmp_path / "session.sqlite3"
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")
    before = file.read_bytes()
    with pytest.raises(SessionError, match="is an SQLite database but not a likewise session"):
        Session.open(tmp_path, write=write)
    assert file.read_bytes() == before


def test_an_old_session_with_rows_that_cannot_be_migrated_is_one_error(tmp_path: Path) -> None:
    at_version(tmp_path / "old", 2)
    with closing(sqlite3.connect(tmp_path / "old" / "session.sqlite3")) as db, db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute("UPDATE log SET images = NULL")
    with pytest.raises(SessionError, match="cannot be migrated to schema 3"):
        Session.open(tmp_path / "old")
