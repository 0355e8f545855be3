"""The journal holds every acknowledged answer, and a damaged database is rebuilt from it."""

import json
import os
import random
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from likewise.constraints.question import Answer, Question
from likewise.errors import SessionBusyError, SessionError
from likewise.session import Session, import_answers, journal
from likewise.session.create import repair
from likewise.session.database import DATABASE
from likewise.session.journal import JOURNAL
from tests.session.pictures import pictures

TABLES = ("image", "criterion", "made_group", "log", "fact")


def content(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return all rows of a session, without the length of the journal."""
    db = sqlite3.connect(path / DATABASE)
    rows = {table: sorted(db.execute(f"SELECT * FROM {table}"), key=repr) for table in TABLES}
    db.close()
    rows["fact"] = [row for row in rows["fact"] if row[0] != "journal"]
    return rows


def fill(session: Session) -> None:
    """Write everything that a log contains."""
    session.make_groups("season", ["winter", "Sömmer"])
    session.tell_all(
        [
            Answer(Question.pair(0, 1), "same", "ada", "season"),
            Answer(Question.label(3), "g1", "ada", "season", seconds=1.5),
            Answer(Question.choice(5, (3, 4), ("g1", "g2")), "g2", "bo", "season"),
            Answer(Question.label(6), "a new name", "bo", "season"),
        ]
    )
    session.undo("season", "ada")
    session.change_group("season", "g2", name="summer", colour="#00ff00", merge_into="g1")
    session.add_criterion("mood", 2, two_groups=True)
    season = session.criterion("season")
    session.change_criterion(replace(season, pair_text="Same season?", choice_text="Which one?"))


def overwrite_all(path: Path) -> None:
    """Overwrite the database by random bytes of the same length, in place."""
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.write(random.Random(0).randbytes(size))


def overwrite_pages(path: Path) -> None:
    """Overwrite everything but the header."""
    with open(path, "r+b") as file:
        file.seek(100)
        file.write(random.Random(0).randbytes(path.stat().st_size - 100))


def truncate(path: Path) -> None:
    os.truncate(path, 5000)


def delete(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("damage", [overwrite_all, overwrite_pages, truncate, delete])
def test_a_damaged_database_is_rebuilt(path: Path, damage: Callable[[Path], None]) -> None:
    with Session.open(path) as session:
        fill(session)
    before = content(path)
    damage(path / DATABASE)
    with pytest.raises(SessionError):
        Session.open(path)
    done = repair(path)
    assert (done.is_changed, done.invalid) == (True, ())
    assert (done.kept is None) == (damage is delete)
    assert content(path) == before
    with Session.open(path) as session:
        assert session.tell(Answer(Question.pair(8, 9), "same", criterion="season")).accepted


@pytest.mark.parametrize("damage", [overwrite_all, overwrite_pages, truncate])
@pytest.mark.parametrize("n_after", [0, 1, 30])
def test_nothing_acknowledged_is_lost_when_the_database_is_overwritten_while_answering(
    path: Path, damage: Callable[[Path], None], n_after: int
) -> None:
    acknowledged, was_stopped = [], False
    session = Session.open(path)
    for count in range(20 + n_after):
        if count == 20:
            damage(path / DATABASE)
        i, j = count % 20, (count + 1 + count // 20) % 20
        try:
            told = session.tell(
                Answer(Question.pair(i, j), "cannot_tell", f"client {count}", "season")
            )
        except SessionError as error:
            was_stopped = "likewise repair" in str(error)
        else:
            assert not was_stopped  # once it is known to be damaged, nothing is acknowledged
            acknowledged.append((told.id, f"client {count}"))
    assert was_stopped or damage is not overwrite_all or not n_after
    session.close()
    repair(path)
    with Session.open(path) as session:
        found = [(entry.id, entry.who) for entry in session.answers("season")]
    assert [pair for pair in acknowledged if found.count(pair) != 1] == []
    assert len(found) == len(set(found))


def test_a_session_that_is_not_damaged_is_not_changed(path: Path) -> None:
    with Session.open(path) as session:
        fill(session)
        with pytest.raises(SessionBusyError):
            repair(path)
    before = content(path)
    assert not repair(path).is_changed
    assert content(path) == before


def test_without_a_journal_nothing_is_done(path: Path) -> None:
    (path / JOURNAL).unlink()
    damaged = b"x" * 5000
    (path / DATABASE).write_bytes(damaged)
    with pytest.raises(SessionError, match="contains no answers"):
        repair(path)
    assert (path / DATABASE).read_bytes() == damaged


def test_invalid_lines_are_left_out_by_number(path: Path) -> None:
    with Session.open(path) as session:
        fill(session)
    lines = (path / JOURNAL).read_text().splitlines()
    lines[3:3] = ["no json", "{}", '{"kind": "pair", "id": "x"}', lines[-1], "[" * 10**5]
    (path / JOURNAL).write_text("\n".join(lines) + '\n{"kind": "pa')
    before = content(path)
    (path / DATABASE).unlink()
    done = repair(path)
    assert done.invalid[:3] == (4, 5, 6)
    assert content(path)["image"] == before["image"]
    assert len(content(path)["log"]) == len(before["log"]) - ("id" not in lines[-1])


@pytest.mark.parametrize("rest", [None, "", '{"kind": "session"'])
def test_a_missing_or_short_journal_is_written_again(path: Path, rest: str | None) -> None:
    with Session.open(path) as session:
        fill(session)
    before = (path / JOURNAL).read_text().splitlines()
    (path / JOURNAL).unlink()
    if rest is not None:
        (path / JOURNAL).write_text(rest)
    Session.open(path).close()
    log = [line for line in before if '"id"' in line]
    assert [line for line in (path / JOURNAL).read_text().splitlines() if '"id"' in line] == log


def test_entries_that_the_journal_lacks_are_added(path: Path) -> None:
    with Session.open(path) as session:
        fill(session)
    db = sqlite3.connect(path / DATABASE)  # as another program
    with db:
        db.execute(
            "INSERT INTO log (criterion, kind, images, answer, who, at) SELECT criterion, kind, "
            "images, answer, who, at FROM log WHERE id = 1"
        )
    db.close()
    Session.open(path).close()
    before = content(path)
    (path / DATABASE).unlink()
    repair(path)
    assert content(path) == before


def test_a_journal_that_is_deleted_while_answering_is_written_again(path: Path) -> None:
    with Session.open(path) as session:
        fill(session)
        (path / JOURNAL).unlink()
        session.tell(Answer(Question.pair(8, 9), "same", criterion="season"))
        session.tell(Answer(Question.pair(8, 10), "same", criterion="season"))
    before = content(path)
    (path / DATABASE).unlink()
    repair(path)
    assert content(path) == before


def test_what_was_not_committed_is_removed_from_the_journal(path: Path) -> None:
    Session.open(path).close()
    before = (path / JOURNAL).read_bytes()
    with (path / JOURNAL).open("ab") as file:
        file.write(b'{"kind": "pair", "id": 77}\n{"kind"')
    Session.open(path).close()
    assert (path / JOURNAL).read_bytes() == before


def test_a_failed_transaction_does_not_change_the_journal(path: Path) -> None:
    with Session.open(path) as session:
        before = (path / JOURNAL).read_bytes()
        ((pages,),) = session._database.rows("PRAGMA page_count")
        session._database.rows(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(SessionError, match="the disk is full"):
            session.tell(Answer(Question.label(5), "x" * 50_000, criterion="season"))
        assert (path / JOURNAL).read_bytes() == before


def test_the_active_answers_of_a_journal_can_be_imported(path: Path, tmp_path: Path) -> None:
    with Session.open(path) as session:
        fill(session)
        active = [entry.line("season") for entry in session.answers("season")]
    with Session.create(tmp_path / "other.likewise", pictures(20)) as other:
        other.add_criterion("season")
        imported = import_answers(other, path / JOURNAL)
        assert (imported.n_imported, imported.problems) == (len(active), ())
        assert [entry.line("season") for entry in other.answers("season")] == active


def test_each_answer_is_one_line_of_the_journal(path: Path) -> None:
    with Session.open(path) as session:
        n_before = len((path / JOURNAL).read_bytes().splitlines())
        session.tell(Answer(Question.pair(8, 9), "same", "ada", "season"))
        lines = (path / JOURNAL).read_text().splitlines()[n_before:]
    (fields,) = map(json.loads, lines)
    assert (fields["answer"], fields["who"], fields["criterion"]) == ("same", "ada", "season")


def test_the_journal_holds_every_column_of_every_table(path: Path) -> None:
    db = sqlite3.connect(path / DATABASE)
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    columns = {
        table: {row[1] for row in db.execute(f"PRAGMA table_info({table})")} for table in TABLES
    }
    db.close()
    assert tables - {"sqlite_sequence"} == set(TABLES)
    stored = {table: set(names) for table, names in journal._TABLES.values()}
    assert {**stored, "log": set(journal._COLUMNS)} == columns


def test_a_criterion_in_the_journal_of_an_older_release_has_no_question_texts(path: Path) -> None:
    Session.open(path).close()
    lines = (path / JOURNAL).read_text().splitlines()
    older = [
        {name: value for name, value in json.loads(line).items() if not name.endswith("_text")}
        for line in lines
    ]
    (path / JOURNAL).write_text("".join(json.dumps(line) + "\n" for line in older))
    (path / DATABASE).unlink()
    assert repair(path).invalid == ()
    with Session.open(path) as session:
        assert session.criterion("season").pair_text is None
