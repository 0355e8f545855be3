"""File names of any bytes and texts that look like formulas, from the folder to the export."""

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from likewise.errors import InvalidParameterError
from likewise.estimators.persistence import write_folder
from likewise.images.files import read_folder
from likewise.session import Session, export_csv, export_folders, save_results
from likewise.session.export.formats import export
from likewise.workspace.gallery import make_gallery
from likewise.workspace.thumbnails import Thumbnails

NAMES = [b"=1+1.png", b"+a.png", b"-a.png", b"@a.png", b"caf\xe9.png", b"plain.png"]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    photos = tmp_path / "photos"
    photos.mkdir()
    for number, name in enumerate(NAMES):
        Image.new("RGB", (8, 8), (number * 40, 0, 0)).save(photos / os.fsdecode(name), "PNG")
    session = Session.create(tmp_path / "photos.likewise", read_folder(photos))
    session.ensure_criterion("colour", 2)
    session.make_groups("colour", ["=cmd|' /C calc'!A0", "b"])
    save_results(session, "colour", np.tile([0.9, 0.1], (6, 1)), keys=("g1", "g2"))
    return session


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8", errors="surrogateescape") as stream:
        return list(csv.DictReader(stream))


def test_texts_that_look_like_formulas_get_an_apostrophe(session: Session, tmp_path: Path) -> None:
    export_csv(session, tmp_path / "a.csv")
    rows = read(tmp_path / "a.csv")
    assert {row["path"] for row in rows} >= {"'=1+1.png", "'+a.png", "'-a.png", "'@a.png"}
    assert {row["path"] for row in rows} >= {"plain.png"}
    assert {row["name"] for row in rows} == {"'=cmd|' /C calc'!A0"}
    assert {row["cluster"] for row in rows} == {"0"}


def test_raw_tables_are_not_changed(session: Session, tmp_path: Path) -> None:
    export_csv(session, tmp_path / "a.csv", raw=True)
    assert {os.fsencode(row["path"]) for row in read(tmp_path / "a.csv")} == set(NAMES)


def test_names_that_are_not_utf_8_are_exported_as_their_own_bytes(
    session: Session, tmp_path: Path
) -> None:
    export_folders(session, tmp_path / "out")
    written = {os.fsencode(path.name) for path in (tmp_path / "out").rglob("*.png")}
    assert written == set(NAMES)
    thumbnails = Thumbnails(session)
    assert b"caf\xe9.png" in export(session, thumbnails, "colour", "csv")
    labels = json.loads(export(session, thumbnails, "colour", "fiftyone"))["labels"]
    assert b"caf\xe9.png" in {os.fsencode(os.path.basename(name)) for name in labels}
    write_folder(tmp_path / "model", {"w": np.zeros(1)}, {"names": session.images.names})


def test_names_that_are_not_utf_8_are_shown_with_replacement_characters(session: Session) -> None:
    position = session.images.names.index(os.fsdecode(b"caf\xe9.png"))
    results = save_results(session, "colour", np.tile([0.9, 0.1], (6, 1)), keys=("g1", "g2"))
    assert make_gallery(session, "colour", results).image(position).name == "caf�.png"
    assert Thumbnails(session).thumbnail(position)
    assert not session.sync(read_folder(session.root or "")).renamed


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2J", "a\x00", "a\x85", "a\u2028b", "a\tb"])
def test_names_with_control_characters_are_refused(session: Session, name: str) -> None:
    with pytest.raises(InvalidParameterError, match="control characters"):
        session.add_criterion(name)
    with pytest.raises(InvalidParameterError, match="control characters"):
        session.make_group("colour", name=name)
    with pytest.raises(InvalidParameterError, match="control characters"):
        session.change_group("colour", "g1", name=name)
    with pytest.raises(InvalidParameterError, match="control characters"):
        session.change_group("colour", "g1", colour="#ff0000", who=name)
