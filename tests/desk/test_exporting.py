"""The gallery page as a file: what it shows, and what it says of the answers; folders."""

from itertools import combinations
from pathlib import Path

import pytest

from likewise.constraints.question import Question
from likewise.desk import exporting
from likewise.desk.desk import Desk
from likewise.desk.folders import sort_into_folders
from likewise.errors import SessionError


def page_of(desk: Desk) -> str:
    return exporting.export(desk.session, desk.album, "colour", "html").decode()


def test_the_gallery_has_one_heading_and_all_pictures(sorted_desk: Desk) -> None:
    sorted_desk.answer("colour", Question.pair(0, 2), "same")
    page = page_of(sorted_desk)
    assert "<h1>photos, by colour</h1>" in page
    assert "<h2>" not in page
    assert page.count("<img") == 12
    assert "From 1 answer; all of them hold." in page


def test_a_large_collection_shows_a_share_of_each_group(
    sorted_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_TILES", 2)
    monkeypatch.setattr(exporting, "_MOST", 8)
    page = page_of(sorted_desk)
    assert page.count("<img") == 8
    assert page.count("… and 2 more.") == 2


@pytest.mark.parametrize("three", [(0, 1, 2), (1, 2, 3)])  # one colour or the other comes twice
def test_answers_that_could_not_be_honoured_are_not_said_to_hold(
    sorted_desk: Desk, three: tuple[int, ...]
) -> None:
    for pair in combinations(three, 2):  # three groups, and there are two places
        sorted_desk.answer("colour", Question.pair(*pair), "different")
    assert "From 3 answers; 1 of them could not be honoured." in page_of(sorted_desk)


def test_of_a_folder_that_is_gone_no_folders_are_made(sorted_desk: Desk, tmp_path: Path) -> None:
    root = sorted_desk.session.root
    assert root is not None
    before = {path.name for path in root.parent.iterdir()}
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(SessionError, match="is not there; bring it back first, or export a table"):
        sort_into_folders(sorted_desk.session, "colour", "copy")
    assert {path.name for path in root.parent.iterdir()} <= before | {"elsewhere"}
