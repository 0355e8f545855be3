"""A folder that cannot be used at all, and what is said about it."""

from pathlib import Path

import pytest

from likewise.errors import CollectionError
from likewise.images.folder import read_folder
from tests.images.conftest import Save


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match=r"'.*nowhere' does not exist; check its name\.$"):
        read_folder(tmp_path / "nowhere")


def test_a_file_is_no_folder(save: Save) -> None:
    with pytest.raises(CollectionError, match=r"a.png' is a file, not a folder; give the folder"):
        read_folder(save("a.png"))


def test_an_empty_folder_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / ".DS_Store").touch()
    (tmp_path / "also_empty").mkdir()
    with pytest.raises(CollectionError, match="is empty; choose a folder with pictures"):
        read_folder(tmp_path)


def test_a_folder_without_pictures_says_what_it_holds(tmp_path: Path) -> None:
    for name in ["a.txt", "b.txt", "c/d.CSV", "Makefile"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("words")
    match = r"holds 4 other files \(2 \.txt, .*1 without ending.*\), but no picture; choose"
    with pytest.raises(CollectionError, match=match):
        read_folder(tmp_path)


def test_a_folder_of_broken_pictures_names_the_first_and_counts_the_rest(tmp_path: Path) -> None:
    for i in range(7):
        (tmp_path / f"{i}.jpg").touch()
    match = r"(?s)None of the 7 pictures in .* can be read.*'0.jpg' is empty.*… and 2 more\."
    with pytest.raises(CollectionError, match=match):
        read_folder(tmp_path)


def test_a_folder_of_raw_photos_only_says_so(save: Save, tmp_path: Path) -> None:
    save("a.dng", kind="TIFF")
    match = r"(?s)No picture in .* can be read.*'a.dng' is a raw photo"
    with pytest.raises(CollectionError, match=match):
        read_folder(tmp_path)
