"""Sessions that were made to do harm: each opens without it, or ends in a message."""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import numpy as np
import pytest
from PIL import Image

from likewise.constraints.question import Answer, Question
from likewise.errors import ImageError, InvalidParameterError, LikewiseWarning, SessionError
from likewise.images.files import read_folder
from likewise.session import Session, export_folders, save_results
from likewise.session.database import DATABASE
from likewise.workspace.status import read_json
from likewise.workspace.thumbnails import Thumbnails, image_files

DEEP = "[" * 100_000
ROW = "INSERT INTO log (id, criterion, kind, images, answer, retracts, who, at) VALUES "


def change(path: Path, *statements: str) -> None:
    """Run SQL in a session, past all checks of its schema."""
    db = sqlite3.connect(path / DATABASE, isolation_level=None)
    db.execute("PRAGMA ignore_check_constraints = ON")
    for sql in statements:
        db.execute(sql)
    db.close()


@pytest.fixture
def told(path: Path) -> list[int]:
    """Give two answers in the session `path` and return their ids."""
    with Session.open(path) as session:
        answers = [
            Answer(Question.pair(0, 1), "same", "ada", "season"),
            Answer(Question.pair(1, 2), "different", "ada", "season"),
        ]
        return [result.id for result in session.tell_all(answers)]


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM image; END",
        "CREATE VIEW v AS SELECT 1",
        "ALTER TABLE image ADD COLUMN x TEXT GENERATED ALWAYS AS (hex(zeroblob(1000000))) VIRTUAL",
        "CREATE TABLE extra (x)",
        "CREATE INDEX extra ON log (hex(answer))",
        "CREATE VIRTUAL TABLE search USING fts5(x)",
    ],
)
@pytest.mark.parametrize("write", [True, False])
def test_a_schema_that_runs_sql_is_refused(path: Path, sql: str, write: bool) -> None:
    change(path, sql)
    with pytest.raises(SessionError, match=r"must (contain only the tables|have no generated)"):
        Session.open(path, write=write)


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE made_group",
        "ALTER TABLE log DROP COLUMN who",
        "ALTER TABLE log ADD COLUMN extra TEXT",
        "ALTER TABLE criterion RENAME COLUMN folder TO place",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = 3",
    ],
)
@pytest.mark.parametrize("write", [True, False])
def test_tables_without_their_columns_are_refused(path: Path, sql: str, write: bool) -> None:
    change(path, sql)
    with pytest.raises(SessionError, match=r"must (have the columns|contain only)"):
        Session.open(path, write=write)


@pytest.mark.parametrize(
    "folder", ["..", ".", "", "../../outside", "/tmp/outside", ".hidden", "a\\b", "a\nb", "x" * 300]
)
def test_the_folder_of_a_criterion_is_a_plain_name(path: Path, folder: str) -> None:
    change(path, f"UPDATE criterion SET folder = '{folder}'")
    with Session.open(path) as session, pytest.raises(SessionError, match="must be a plain name"):
        session.model_folder("season")


@pytest.mark.parametrize("content", ["../../../outside", "", "a/b", ".x", "a" * 200])
def test_content_hashes_are_plain_names(path: Path, content: str) -> None:
    change(path, f"UPDATE image SET hash = '{content}' WHERE position = 3")
    with pytest.raises(SessionError, match="Image 3 must have a content hash"):
        Session.open(path)


@pytest.mark.parametrize("root", [b"a\0b", bytes(10_000), b"x" * 10_000])
def test_the_image_folder_is_a_path(path: Path, root: bytes) -> None:
    change(path, f"REPLACE INTO fact VALUES ('root', x'{root.hex()}')")
    with Session.open(path) as session, pytest.raises(SessionError, match="must be a path"):
        _ = session.root


def test_positions_have_no_gaps(path: Path) -> None:
    change(path, "UPDATE image SET position = 4000000000 WHERE position = 3")
    with pytest.raises(SessionError, match="got no image 3"):
        Session.open(path)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ("(9, 1, 'retract', NULL, NULL, 9, '', '')", "not an earlier one"),
        ("(9, 1, 'retract', NULL, NULL, 12, '', '')", "not an earlier one"),
        ("(9, 1, 'retract', NULL, NULL, 7, '', '')", "not in the log"),
        ("(9, 1, 'retract', NULL, NULL, NULL, '', '')", "only a retraction refers"),
        ("(9, 1, 'pair', '[\"unknown\", \"images\"]', 'same', NULL, '', '')", "not in this"),
        ("(9, 1, 'pair', 'no json', 'same', NULL, '', '')", "Expecting value"),
        ("(9, 1, 'pair', '{\"a\": 1}', 'same', NULL, '', '')", "JSON list of strings"),
        (f"(9, 1, 'pair', '{DEEP}', 'same', NULL, '', '')", "nested too deeply"),
        ("(9, 1, 'pair', NULL, 'same', NULL, '', '')", "pair"),
        ("(9, 1, 'pair', '[]', CAST(x'ff' AS TEXT), NULL, '', '')", "pair"),
        ("(9, 1, 'drop table', '[]', 'same', NULL, '', '')", "unknown kind"),
        ("(9, 1, 'colour', NULL, 'red;background:url(http://x)', NULL, '', '')", "colour"),
        ("(9, 1, 'merge', NULL, 'a', NULL, '', '')", "merge"),
        ("(9, 1, 'confirm', NULL, 'x', NULL, '', '')", "invalid literal"),
    ],
)
def test_a_bad_row_is_left_out_and_reported(
    path: Path, told: list[int], values: str, reason: str
) -> None:
    change(path, ROW + values)
    begin = monotonic()
    with Session.open(path) as session:
        with pytest.warns(LikewiseWarning, match="entry 9"):
            assert [entry.id for entry in session.answers("season")] == told
        assert reason in session.copy_replay("season").entries.invalid[9]
        more = session.tell(Answer(Question.pair(4, 5), "same", criterion="season"))
        session.undo("season")
        with pytest.raises(InvalidParameterError, match="not valid"):
            session.retract(9)
    with Session.open(path) as session:
        with pytest.warns(LikewiseWarning):
            session.graph("season")
        assert [entry.id for entry in session.answers("season")] == told
        assert more.id == 10
    assert monotonic() - begin < 5


def test_retractions_that_refer_to_each_other_end(path: Path, told: list[int]) -> None:
    change(
        path,
        ROW
        + "(9, 1, 'retract', NULL, NULL, 10, '', ''), (10, 1, 'retract', NULL, NULL, 9, '', '')",
    )
    with Session.open(path) as session, pytest.warns(LikewiseWarning, match="2 entries"):
        assert [entry.id for entry in session.answers("season")] == told


def make_link(path: Path) -> None:
    (path / "thumbnails" / "a.webp").symlink_to("/etc/passwd")


def make_linked_folder(path: Path) -> None:
    (path / "models" / "1-season").symlink_to("/etc")


def make_pipe(path: Path) -> None:
    os.mkfifo(path / "models" / "results.npz")


def link_database(path: Path) -> None:
    other = path.with_name("other.sqlite3")
    (path / DATABASE).rename(other)
    (path / DATABASE).symlink_to(other)


@pytest.mark.parametrize("make", [make_link, make_linked_folder, make_pipe, link_database])
@pytest.mark.parametrize("write", [True, False])
def test_links_and_pipes_in_a_session_are_refused(
    path: Path, make: Callable[[Path], None], write: bool
) -> None:
    make(path)
    with pytest.raises(SessionError, match="must contain only files and folders"):
        Session.open(path, write=write)


@pytest.mark.parametrize("name", ["../secret.png", "{outside}/secret.png", "a/../../secret.png"])
def test_names_that_lead_out_of_the_image_folder_are_not_read(tmp_path: Path, name: str) -> None:
    photos, secret = tmp_path / "photos", tmp_path / "secret.png"
    (photos / "a").mkdir(parents=True)
    for number in range(3):
        Image.new("RGB", (8, 8), (number * 40, 0, 0)).save(photos / f"{number}.png")
    Image.new("RGB", (8, 8), (0, 0, 0)).save(secret)  # the same content as photos/0.png
    session = Session.create(tmp_path / "photos.likewise", read_folder(photos))
    session.close()
    blob = name.format(outside=tmp_path).encode().hex()
    change(session.path, f"UPDATE image SET name = x'{blob}' WHERE position = 0")
    with Session.open(session.path) as session:
        session.ensure_criterion("colour", 2)
        save_results(session, "colour", np.full((3, 2), 0.5), keys=())
        with pytest.raises(ImageError, match="leads out"):
            Thumbnails(session).image(0)
        with pytest.raises(ImageError, match="leads out"):
            image_files(session, [0]).pixels(0)
        exported = export_folders(session, tmp_path / "out", how="symlink")
        assert [reason for _, reason in exported.left_out] == ["is outside of the image folder"]
        assert len(list((tmp_path / "out").rglob("*.png"))) == 2


def test_a_json_file_of_a_session_is_bounded(path: Path, told: list[int]) -> None:
    (path / "deep.json").write_text(DEEP)
    (path / "large.json").write_text(json.dumps("x" * 2**25))
    assert read_json(path / "deep.json") is None
    assert read_json(path / "large.json") is None
