"""A folder as people have it: nested, mixed, partly broken, with links and duplicates."""

import hashlib
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from likewise.images import find_files
from likewise.images.collection import ImageCollection, displayed_name
from likewise.images.decoding import decode
from likewise.images.files import read_folder
from tests.images.conftest import Save
from tests.images.pictures import make_pixels

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
ENDINGS = ["jpg", "JPEG", "png", "webp", "bmp", "tiff", "tif", "gif"]


def names(collection: ImageCollection) -> list[str]:
    return [collection.name(i) for i in range(len(collection))]


def test_finds_every_format_at_every_depth_in_the_order_of_names(
    save: Save, tmp_path: Path
) -> None:
    for depth, ending in enumerate(reversed(ENDINGS)):
        save("/".join([*"nested"[:depth], f"picture.{ending}"]), seed=depth)
    collection = read_folder(tmp_path)
    assert isinstance(collection, ImageCollection)
    assert len(collection) == len(ENDINGS)
    assert names(collection) == sorted(names(collection))
    assert "n/e/picture.tiff" in names(collection)
    assert collection.skipped == []
    for i in range(len(collection)):
        assert collection.pixels(i).shape == (24, 32, 3)
        np.testing.assert_array_equal(collection.pixels(i), decode(collection.path(i)))


def test_reads_by_content_where_the_name_says_nothing(save: Save, tmp_path: Path) -> None:
    save("no_ending", kind="PNG")
    save("wrong.jpg", seed=1, kind="PNG")
    save("download.aspx", seed=2, kind="JPEG")
    (tmp_path / "notes.txt").write_text("not a picture, and nobody would think so")
    collection = read_folder(tmp_path)
    assert names(collection) == ["download.aspx", "no_ending", "wrong.jpg"]
    assert collection.skipped == []


def test_an_identity_is_the_hash_of_the_file(save: Save, tmp_path: Path) -> None:
    path = save("a.png")
    identity = read_folder(tmp_path).identity(0)
    assert identity == hashlib.sha256(path.read_bytes()).hexdigest()


def test_duplicates_are_kept_and_known(save: Save, tmp_path: Path) -> None:
    for name, seed in [("a.png", 0), ("b.png", 1), ("c.png", 0), ("d.png", 2), ("e/b.png", 1)]:
        save(name, seed)
    assert read_folder(tmp_path).duplicates == [[0, 2], [1, 4]]


def test_hidden_files_and_session_folders_are_ignored(save: Save, tmp_path: Path) -> None:
    save("seen.png")
    save(".hidden.png")
    save("._seen.png")
    save(".git/picture.png")
    save("holiday.likewise/thumbnails/a.webp")
    collection = read_folder(tmp_path)
    assert names(collection) == ["seen.png"]
    assert collection.skipped == []


def test_broken_files_are_left_out_by_name_with_the_reason(save: Save, tmp_path: Path) -> None:
    save("good.png")
    whole = save("sub/cut.jpg").read_bytes()
    (tmp_path / "sub/cut.jpg").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.gif").touch()
    (tmp_path / "letter.jpg").write_text("Dear diary")
    (tmp_path / "phone.heic").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0")
    save("camera.NEF", kind="TIFF")
    os.mkfifo(tmp_path / "pipe.png")
    os.mkfifo(tmp_path / "pipe")
    collection = read_folder(tmp_path)
    assert names(collection) == ["good.png"]
    reasons = {one.name: one.reason for one in collection.skipped}
    assert list(reasons) == sorted(reasons)
    begin = {
        "camera.NEF": "is a raw photo without a preview; save it as JPEG or PNG",
        "empty.gif": "is empty (0 bytes)",
        "letter.jpg": "is not a supported image: it contains text",
        "phone.heic": "is broken or truncated",
        "pipe.png": "is a pipe or a device",
        "sub/cut.jpg": "is broken or truncated",
    }
    assert reasons.keys() == begin.keys()
    for name, words in begin.items():
        assert reasons[name].startswith(words)
    assert repr(collection) == "FolderCollection(1 images, 6 skipped)"


def test_links_are_never_followed_out_of_the_folder(save: Save, tmp_path: Path) -> None:
    outside = save("outside/secret.png", seed=1)
    inside = save("photos/a.png")
    (tmp_path / "photos/out.png").symlink_to(outside)
    (tmp_path / "photos/out_without_ending").symlink_to(outside)
    (tmp_path / "photos/folder").symlink_to(outside.parent)
    (tmp_path / "photos/back").symlink_to(tmp_path / "photos")
    (tmp_path / "photos/in.png").symlink_to(inside)
    (tmp_path / "photos/dangling.png").symlink_to(tmp_path / "photos/gone.png")
    collection = read_folder(tmp_path / "photos")
    assert names(collection) == ["a.png", "in.png"]
    assert collection.duplicates == [[0, 1]]
    assert {one.name: one.reason.split(";")[0] for one in collection.skipped} == {
        "back": "is a link to a folder",
        "dangling.png": "does not exist",
        "folder": "is a link to a folder",
        "out.png": "is a link to a file outside the folder",
    }


def test_a_folder_may_itself_be_a_link(save: Save, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/b.png").symlink_to(save("photos/a.png"))
    (tmp_path / "link").symlink_to(tmp_path / "photos")
    assert names(read_folder(tmp_path / "link")) == ["a.png", "b.png"]


def test_a_sibling_folder_with_the_same_prefix_is_outside(save: Save, tmp_path: Path) -> None:
    save("photos/a.png")
    (tmp_path / "photos/b.png").symlink_to(save("photos2/b.png"))
    assert names(read_folder(tmp_path / "photos")) == ["a.png"]


def test_names_of_any_bytes_are_kept(save: Save, tmp_path: Path) -> None:
    path = save("a.png")
    shutil.copy(path, tmp_path / "grüße 🌄.png")
    shutil.copy(path, tmp_path / os.fsdecode(b"caf\xe9.png"))
    collection = read_folder(tmp_path)
    assert names(collection) == ["a.png", os.fsdecode(b"caf\xe9.png"), "grüße 🌄.png"]
    assert displayed_name(collection.name(1)) == "caf�.png"
    assert collection.pixels(1).shape == (24, 32, 3)


def test_a_folder_that_may_not_be_opened_is_listed(
    save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save("a.png")
    save("locked/b.png")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr("os.scandir", refuse)  # a superuser may open everything
    collection = read_folder(tmp_path)
    assert names(collection) == ["a.png"]
    assert str(collection.skipped[0]) == "'locked' cannot be opened (Permission denied)."


def test_progress_is_reported(save: Save, tmp_path: Path) -> None:
    for i in range(3):
        save(f"{i}.png")
    (tmp_path / "broken.png").touch()
    steps: list[tuple[int, int]] = []
    read_folder(tmp_path, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_reads_more_files_than_are_looked_at_together(
    save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("likewise.images.find_files._CHUNK", 2)
    for i in range(5):
        save(f"{i}.png", seed=i)
    collection = read_folder(tmp_path)
    assert names(collection) == [f"{i}.png" for i in range(5)]
    np.testing.assert_array_equal(collection.pixels(4), make_pixels(4))


@pytest.mark.filterwarnings("error")
def test_unusual_metadata_cause_neither_a_warning_nor_data_loss(save: Save, tmp_path: Path) -> None:
    save("odd.jpg", exif=b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x02\0\xff\0\0\0\xff\0\0\0")
    assert names(read_folder(tmp_path)) == ["odd.jpg"]


@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="the real pictures in ../shared/data are not here")
def test_reads_real_images() -> None:
    collection = read_folder(DATA / "fashion" / "images")
    assert len(collection) == 1740
    assert collection.skipped == []
    assert sum(map(len, collection.duplicates)) < 40


def test_a_file_that_is_known_and_unchanged_is_not_opened_again(
    save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.png", "b.png"):
        save(name)
    first = read_folder(tmp_path)
    status = (tmp_path / "a.png").stat()
    known = {("a.png", status.st_size, status.st_mtime_ns): first.identity(0)}
    opened: list[str] = []
    validate = find_files._validate

    def recorded(file: tuple[str, str]) -> object:
        opened.append(file[1])
        return validate(file)

    monkeypatch.setattr(find_files, "_validate", recorded)
    again = read_folder(tmp_path, known=known)
    assert opened == ["b.png"]
    assert [again.identity(i) for i in range(2)] == [first.identity(i) for i in range(2)]
    (tmp_path / "a.png").write_bytes(b"broken now")
    assert [one.name for one in read_folder(tmp_path, known=known).skipped] == ["a.png"]
