from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.errors import CollectionError
from likewise.images.as_collection import as_collection
from likewise.images.files import FolderCollection, PathCollection
from likewise.images.in_memory import ArrayCollection
from tests.images.conftest import Save
from tests.images.pictures import make_pixels


def test_a_folder_is_read(save: Save, tmp_path: Path) -> None:
    save("a.png")
    for folder in (tmp_path, str(tmp_path)):
        assert isinstance(as_collection(folder), FolderCollection)


def test_paths_are_read_from_lists_tuples_and_arrays(save: Save) -> None:
    path = save("a.png")
    for paths in ([path], (str(path),), np.array([str(path)]), np.array([path], dtype=object)):
        collection = as_collection(paths)
        assert isinstance(collection, PathCollection)
        assert len(collection) == 1


def test_arrays_and_lists_of_arrays_are_taken() -> None:
    for pictures in (make_pixels()[None], [make_pixels(), make_pixels(1)]):
        assert isinstance(as_collection(pictures), ArrayCollection)


def test_a_collection_is_returned_unchanged() -> None:
    collection = ArrayCollection(make_pixels()[None])
    assert as_collection(collection) is collection


def test_progress_is_reported(save: Save, tmp_path: Path) -> None:
    path = save("a.png")
    for source in (tmp_path, [path]):
        steps: list[int] = []
        as_collection(source, progress=lambda done, total, steps=steps: steps.append(total))
        assert steps == [1]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "a folder, a list of paths or an array, got NoneType"),
        (3, "got int"),
        ({"a.png"}, "got set"),
        (np.array(3.0), "got ndarray"),
        ([], "list of images is empty; give at least one"),
        (np.zeros((0, 8, 8, 3)), "list of images is empty"),
        (np.zeros((4, 8)), "got vectors of shape"),
        ([make_pixels(), make_pixels()[:5]], "image 1 is of shape"),
    ],
    ids=repr,
)
def test_a_source_without_images_raises_a_clear_error(source: Any, message: str) -> None:
    with pytest.raises(CollectionError, match=message):
        as_collection(source)
