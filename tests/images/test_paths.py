from pathlib import Path

import numpy as np
import pytest

from likewise.errors import CollectionError, InvalidParameterError
from likewise.images.collection import ImageCollection
from likewise.images.paths import read_paths
from tests.images.conftest import Save
from tests.images.pictures import make_pixels


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
        f"'{tmp_path}' is a folder, not a picture; give the pictures in it.",
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


def test_a_list_without_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="list of paths is empty; give at least one"):
        read_paths([])
    match = r"(?s)None of the 2 pictures given can be read; check the paths.*'a.png' does not"
    with pytest.raises(CollectionError, match=match):
        read_paths(["a.png", tmp_path])


def test_one_path_is_no_list() -> None:
    with pytest.raises(InvalidParameterError, match=r"'photos' is one path, .* \['photos'\]"):
        read_paths("photos")


def test_what_is_no_path_is_named() -> None:
    with pytest.raises(InvalidParameterError, match="3 in the list of paths is no path but int"):
        read_paths(["a.png", 3])  # type: ignore[list-item]  # the mistake this is about
