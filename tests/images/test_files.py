"""Files that change after validation, lists of paths, and folders that cannot be read."""

import os
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import CollectionError, ImageError, InvalidParameterError
from likewise.images.collection import ImageCollection
from likewise.images.files import read_folder, read_paths
from tests.images.conftest import Save
from tests.images.pictures import make_pixels


def test_the_error_names_a_deleted_image(save: Save, tmp_path: Path) -> None:
    save("sub/a.png").with_name("b.png").write_bytes(b"")
    collection = read_folder(tmp_path)
    (tmp_path / "sub/a.png").unlink()
    with pytest.raises(ImageError, match=r"^'sub/a.png' does not exist; check its name, or read"):
        collection.pixels(0)


def test_a_changed_image_raises_an_error(save: Save, tmp_path: Path) -> None:
    save("a.png")
    collection = read_folder(tmp_path)
    save("a.png", seed=1)
    with pytest.raises(ImageError, match=r"^'a.png' was changed since it was scanned; read the"):
        collection.pixels(0)


def test_an_image_with_a_new_mtime_but_same_content_is_read(save: Save, tmp_path: Path) -> None:
    path = save("a.png")
    collection = read_folder(tmp_path)
    os.utime(path, (1, 1))
    np.testing.assert_array_equal(collection.pixels(0), make_pixels())


def test_an_image_replaced_by_a_pipe_does_not_block(save: Save, tmp_path: Path) -> None:
    path = save("a.png")
    collection = read_folder(tmp_path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ImageError, match=r"^'a.png' is a pipe or a device"):
        collection.pixels(0)


def test_keeps_the_order_and_the_names_that_were_given(save: Save) -> None:
    paths: list[str | Path] = [str(save("b.png", seed=1)), save("a.png")]
    collection = read_paths(paths)
    assert isinstance(collection, ImageCollection)
    assert [collection.name(i) for i in range(2)] == [str(path) for path in paths]
    np.testing.assert_array_equal(collection.pixels(0), make_pixels(1))


def test_what_cannot_be_read_is_left_out_and_the_rest_knows_where_it_stood(
    save: Save, tmp_path: Path
) -> None:
    paths = [tmp_path / "gone.png", save("a.png"), tmp_path, save("b.png")]
    collection = read_paths(paths)
    assert collection.given == [1, 3]
    assert collection.duplicates == [[0, 1]]
    assert [str(one) for one in collection.skipped] == [
        f"'{paths[0]}' does not exist; check its name, or read the folder again.",
        f"'{tmp_path}' is a folder, not an image; give the images in it.",
    ]


def test_a_link_that_was_named_is_followed(save: Save, tmp_path: Path) -> None:
    link = tmp_path / "link.png"
    link.symlink_to(save("elsewhere/a.png"))
    assert len(read_paths([link])) == 1


def test_a_home_is_found(save: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save("a.png")
    monkeypatch.setenv("HOME", str(tmp_path))
    collection = read_paths(["~/a.png"])
    assert collection.name(0) == "~/a.png"
    assert collection.path(0) == tmp_path / "a.png"


def test_a_list_without_images_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="list of paths is empty; give at least one"):
        read_paths([])
    match = r"(?s)None of the 2 given images can be read; check the paths.*'a.png' does not"
    with pytest.raises(CollectionError, match=match):
        read_paths(["a.png", tmp_path])


def test_one_path_is_not_a_list() -> None:
    with pytest.raises(InvalidParameterError, match=r"single path 'photos'; give \['photos'\]"):
        read_paths("photos")


def test_what_is_not_a_path_is_named() -> None:
    with pytest.raises(InvalidParameterError, match="only paths, got 3 of type int"):
        read_paths(["a.png", 3])  # type: ignore[list-item]  # the mistake this is about


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match=r"'.*nowhere' does not exist; check its name\.$"):
        read_folder(tmp_path / "nowhere")


def test_a_file_is_not_a_folder(save: Save) -> None:
    with pytest.raises(CollectionError, match=r"a.png' is a file, not a folder; give the folder"):
        read_folder(save("a.png"))


def test_an_empty_folder_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / ".DS_Store").touch()
    (tmp_path / "also_empty").mkdir()
    with pytest.raises(CollectionError, match="is empty; choose a folder with images"):
        read_folder(tmp_path)


def test_the_error_for_a_folder_without_images_lists_its_files(tmp_path: Path) -> None:
    for name in ["a.txt", "b.txt", "c/d.CSV", "Makefile"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("words")
    match = r"contains 4 other files \(2 \.txt, .*1 without extension.*\), but no images; choose"
    with pytest.raises(CollectionError, match=match):
        read_folder(tmp_path)


def test_a_folder_of_broken_images_names_the_first_and_counts_the_rest(tmp_path: Path) -> None:
    for i in range(7):
        (tmp_path / f"{i}.jpg").touch()
    match = r"(?s)None of the 7 images in .* can be read.*'0.jpg' is empty.*… and 2 more\."
    with pytest.raises(CollectionError, match=match):
        read_folder(tmp_path)


def test_a_folder_of_raw_photos_only_is_reported(save: Save, tmp_path: Path) -> None:
    save("a.dng", kind="TIFF")
    match = r"(?s)None of the 1 images in .* can be read.*'a.dng' is a raw photo"
    with pytest.raises(CollectionError, match=match):
        read_folder(tmp_path)
