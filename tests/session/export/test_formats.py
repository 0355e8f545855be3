"""Formats that are exported as the content of one file, and folders next to the images."""

import csv
import io
import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from likewise.constraints.question import Answer, Question
from likewise.errors import ImageError, SessionError, UnknownNameError
from likewise.session import Session, export_csv, save_results
from likewise.session.export import formats
from likewise.session.export.folders import export_beside
from tests.session.pictures import pictures

N = 12


class FakeThumbnails:
    """Returns the position as thumbnail; images in `broken` cannot be read."""

    def __init__(self, broken: tuple[int, ...] = ()) -> None:
        self.broken = broken

    def thumbnail(self, image: int) -> bytes:
        if image in self.broken:
            raise ImageError(f"image {image} is broken")
        return bytes([image])


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    (tmp_path / "photos").mkdir()
    return tmp_path / "photos"


@pytest.fixture
def sorted_session(tmp_path: Path, photos: Path) -> Iterator[Session]:
    """Return a session of 12 images, even ones in group g1, odd ones in g2."""
    with Session.create(tmp_path / "photos.likewise", pictures(N), root=photos) as session:
        session.add_criterion("colour", 2)
        session.make_groups("colour", ["red", "blue"])
        probabilities = np.array([[0.9, 0.1], [0.1, 0.9]] * (N // 2))
        save_results(session, "colour", probabilities, keys=("g1", "g2"))
        yield session


def pair(first: int, second: int, answer: str) -> Answer:
    return Answer(Question.pair(first, second), answer, criterion="colour")


def page_of(session: Session, broken: tuple[int, ...] = ()) -> str:
    return formats.export(session, FakeThumbnails(broken), "colour", "html").decode()


def test_the_page_has_one_heading_and_all_images(sorted_session: Session) -> None:
    sorted_session.tell(pair(0, 2, "same"))
    page = page_of(sorted_session)
    assert "<h1>photos, by colour</h1>" in page
    assert "<h2>" not in page
    assert page.count("<img") == N
    assert "From 1 answer; all are satisfied." in page


def test_an_image_that_cannot_be_read_is_left_out_of_the_page(sorted_session: Session) -> None:
    assert page_of(sorted_session, broken=(3,)).count("<img") == N - 1


def test_the_page_of_a_large_collection_shows_some_images_of_each_group(
    sorted_session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "_MIN_TILES", 2)
    monkeypatch.setattr(formats, "_MAX_TILES", 8)
    page = page_of(sorted_session)
    assert page.count("<img") == 8
    assert page.count("… and 2 more.") == 2


@pytest.mark.parametrize("three", [(0, 1, 2), (1, 2, 3)])
def test_the_page_counts_answers_that_are_not_satisfied(
    sorted_session: Session, three: tuple[int, ...]
) -> None:
    for first, second in combinations(three, 2):  # would need three groups; there are two
        sorted_session.tell(pair(first, second, "different"))
    assert "From 3 answers; 1 are not satisfied." in page_of(sorted_session)


def test_the_csv_content_equals_the_csv_file(sorted_session: Session, tmp_path: Path) -> None:
    content = formats.export(sorted_session, FakeThumbnails(), "colour", "csv")
    export_csv(sorted_session, tmp_path / "out.csv", "colour")
    assert content == (tmp_path / "out.csv").read_bytes()
    assert len(list(csv.reader(io.StringIO(content.decode())))) == N + 1


def test_label_studio_gets_groups_as_predictions_and_pairs_as_annotations(
    sorted_session: Session,
) -> None:
    sorted_session.tell(pair(0, 2, "same"))
    tasks = json.loads(formats.export(sorted_session, FakeThumbnails(), "colour", "labelstudio"))
    assert len(tasks) == N + 1
    assert tasks[1]["predictions"][0]["result"][0]["value"] == {"choices": ["blue"]}
    assert tasks[-1]["annotations"][0]["result"][0]["value"] == {"choices": ["same"]}
    assert len({tuple(task["data"]) for task in tasks}) == 1


def test_an_unknown_format_is_refused(sorted_session: Session) -> None:
    with pytest.raises(UnknownNameError, match="export format"):
        formats.export(sorted_session, FakeThumbnails(), "colour", "docx")


def test_no_folders_are_written_if_the_image_folder_is_missing(
    sorted_session: Session, photos: Path, tmp_path: Path
) -> None:
    before = {path.name for path in tmp_path.iterdir()}
    photos.rename(tmp_path / "elsewhere")
    with pytest.raises(SessionError, match="does not exist; restore it first, or export a table"):
        export_beside(sorted_session, "colour", "copy")
    assert {path.name for path in tmp_path.iterdir()} <= before | {"elsewhere"}
