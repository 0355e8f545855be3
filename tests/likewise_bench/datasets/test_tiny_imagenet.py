"""Tiny-ImageNet's archive and its folder."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from likewise.errors import DatasetError, LikewiseWarning
from likewise_bench.datasets import load_dataset


@pytest.fixture
def archive(tmp_path: Path, jpeg: Callable[[int], bytes]) -> Path:
    path = tmp_path / "tiny-imagenet-200.zip"
    with zipfile.ZipFile(path, "w") as stream:
        stream.writestr("tiny-imagenet-200/wnids.txt", "n01443537\nn01629819\n")
        for synset, brightness in (("n01629819", 60), ("n01443537", 30)):
            for i in range(2):
                name = f"tiny-imagenet-200/train/{synset}/images/{synset}_{i}.JPEG"
                stream.writestr(name, jpeg(brightness))
        stream.writestr("tiny-imagenet-200/val/images/val_0.JPEG", jpeg(1))
    return path


@pytest.mark.parametrize("packed", [True, False])
def test_training_images_are_ordered_by_class(archive: Path, packed: bool) -> None:
    if packed:
        with pytest.warns(LikewiseWarning, match="not the official archive of tiny-imagenet"):
            dataset = load_dataset("tiny-imagenet", archive.parent)
    else:
        with zipfile.ZipFile(archive) as stream:
            stream.extractall(archive.parent)
        dataset = load_dataset("tiny-imagenet", archive.parent)
    assert dataset.labels("class").tolist() == ["n01443537"] * 2 + ["n01629819"] * 2
    assert dataset.collection is not None
    assert abs(int(dataset.collection.pixels(2)[0, 0, 0]) - 60) <= 2


def test_a_truncated_archive_is_rejected(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:-400])
    with pytest.raises(DatasetError, match=r"incomplete \([\d,]+ instead of 248,100,043 byt"):
        load_dataset("tiny-imagenet", archive.parent)


def test_a_folder_of_other_images_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "tiny-imagenet-200" / "train").mkdir(parents=True)
    with pytest.raises(DatasetError, match="no images in train/<class>/images/, so it is not"):
        load_dataset("tiny-imagenet", tmp_path)
