"""CIFAR-10 as image folders, in a zip archive or not."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import DatasetError
from likewise_bench.datasets import load_dataset
from likewise_bench.datasets.base import class_names

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data"


@pytest.mark.parametrize("packed", [True, False])
def test_cifar10_is_read_from_folders_of_classes(
    tmp_path: Path, jpeg: Callable[[int], bytes], packed: bool
) -> None:
    names = class_names("cifar10")
    files = {f"train/{name}/{i}.jpg": jpeg(10 * i) for name in names for i in (1, 2)}
    files |= {f"test/{name}/1.jpg": jpeg(200) for name in names}
    with zipfile.ZipFile(tmp_path / "cifar10.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    if not packed:
        with zipfile.ZipFile(tmp_path / "cifar10.zip") as archive:
            archive.extractall(tmp_path / "cifar10")
        (tmp_path / "cifar10.zip").unlink()
    dataset = load_dataset("cifar10", tmp_path)
    assert dataset.labels("class").tolist() == sorted(names * 2) + sorted(names)
    assert dataset.train is not None
    assert dataset.test is not None
    assert (len(dataset.train), len(dataset.test)) == (20, 10)
    assert dataset.collection is not None
    assert dataset.collection.name(3) == "train/automobile/2.jpg"
    assert abs(int(dataset.collection.pixels(3)[4, 4, 0]) - 20) <= 2
    assert abs(int(dataset.collection.pixels(29)[4, 4, 0]) - 200) <= 2


def test_a_zip_of_other_classes_is_not_cifar10(
    tmp_path: Path, jpeg: Callable[[int], bytes]
) -> None:
    with zipfile.ZipFile(tmp_path / "cifar10.zip", "w") as archive:
        archive.writestr("train/aeroplane/1.jpg", jpeg(3))
    with pytest.raises(DatasetError, match=r"images of 'aeroplane', so it is not .* 'cifar10'"):
        load_dataset("cifar10", tmp_path)


def test_a_damaged_zip_must_be_copied_again_from_its_source(tmp_path: Path) -> None:
    """The page of CIFAR-10 offers the other forms, but not the zip."""
    (tmp_path / "cifar10.zip").write_bytes(b"PK half of it")
    with pytest.raises(
        DatasetError,
        match=r"cifar10.zip' is damaged .*; delete it and copy cifar10.zip again from its",
    ):
        load_dataset("cifar10", tmp_path)


def test_the_error_for_an_incomplete_folder_does_not_name_the_download_page(tmp_path: Path) -> None:
    (tmp_path / "cifar10" / "train" / "bird").mkdir(parents=True)
    with pytest.raises(
        DatasetError, match=r"unpack cifar10.zip again, or copy cifar10.zip again from its source"
    ):
        load_dataset("cifar10", tmp_path)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not (DATA / "cifar10.zip").exists(), reason="no ../shared/data/cifar10.zip")
def test_the_shared_archive_is_complete() -> None:
    dataset = load_dataset("cifar10", DATA)
    assert dataset.train is not None
    assert (len(dataset), len(dataset.train)) == (60_000, 50_000)
    assert np.unique(dataset.labels("class"), return_counts=True)[1].tolist() == [6000] * 10
    assert dataset.collection is not None
    assert dataset.collection.name(50_000).startswith("test/airplane/")
    for index in (0, 12_345, 59_999):
        assert dataset.collection.pixels(index).shape == (32, 32, 3)
