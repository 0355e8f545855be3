"""Binary files of STL-10: images stored column by column, classes from 1."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import DatasetError, LikewiseWarning
from likewise.random_streams import stream
from likewise_bench.datasets import load_dataset

MakeTar = Callable[[Path, Mapping[str, bytes]], Path]


@pytest.fixture
def files() -> dict[str, bytes]:
    rng = stream(0, "stl10")
    return {
        "train_X.bin": rng.bytes(2 * 27648),
        "train_y.bin": bytes([1, 10]),
        "test_X.bin": rng.bytes(27648),
        "test_y.bin": bytes([8]),
    }


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)


@pytest.mark.parametrize("packed", [True, False])
def test_images_are_upright_and_classes_begin_at_one(
    tmp_path: Path, files: dict[str, bytes], make_tar: MakeTar, packed: bool
) -> None:
    if packed:
        members = {f"stl10_binary/{name}": content for name, content in files.items()}
        make_tar(tmp_path / "stl10_binary.tar.gz", {"stl10_binary/unlabeled_X.bin": b"", **members})
        with pytest.warns(LikewiseWarning, match="not the official archive of stl10"):
            dataset = load_dataset("stl10", tmp_path)
    else:
        write(tmp_path / "stl10_binary", files)
        dataset = load_dataset("stl10", tmp_path)
    assert dataset.labels("class").tolist() == ["airplane", "truck", "monkey"]
    assert dataset.train is not None
    assert dataset.test is not None
    assert (dataset.train.tolist(), dataset.test.tolist()) == ([0, 1], [2])
    assert dataset.collection is not None
    values = np.frombuffer(files["train_X.bin"], np.uint8)[27648:]
    picture = dataset.collection.pixels(1)
    for row, column, colour in [(0, 0, 0), (5, 90, 1), (95, 2, 2)]:
        assert picture[row, column, colour] == values[colour * 9216 + column * 96 + row]


def test_labels_and_images_must_have_the_same_number(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    write(tmp_path / "stl10_binary", files | {"test_X.bin": files["test_X.bin"][:-1]})
    with pytest.raises(
        DatasetError, match=r"'test_X.bin' must have 27,648 bytes per .* got 27,647"
    ):
        load_dataset("stl10", tmp_path)


def test_labels_outside_one_to_ten_are_rejected(tmp_path: Path, files: dict[str, bytes]) -> None:
    write(tmp_path / "stl10_binary", files | {"train_y.bin": bytes([0, 3])})
    with pytest.raises(
        DatasetError, match=r"'train_y.bin' must have labels from 1 to 10, got 0 to 3"
    ):
        load_dataset("stl10", tmp_path)


def test_the_unpacked_folder_has_unlabelled_images(tmp_path: Path, files: dict[str, bytes]) -> None:
    write(tmp_path / "stl10_binary", files | {"unlabeled_X.bin": files["train_X.bin"]})
    dataset = load_dataset("stl10", tmp_path)
    assert dataset.unlabelled is not None
    assert dataset.collection is not None
    assert (len(dataset), len(dataset.unlabelled)) == (3, 2)
    np.testing.assert_array_equal(dataset.unlabelled.pixels(1), dataset.collection.pixels(1))


def test_truncated_unlabelled_images_are_rejected(tmp_path: Path, files: dict[str, bytes]) -> None:
    write(tmp_path / "stl10_binary", files | {"unlabeled_X.bin": files["train_X.bin"][:-7]})
    with pytest.raises(DatasetError, match=r"must be a multiple of .* bytes, got 55,289"):
        load_dataset("stl10", tmp_path)
    (tmp_path / "stl10_binary" / "unlabeled_X.bin").unlink()
    assert load_dataset("stl10", tmp_path).unlabelled is None
