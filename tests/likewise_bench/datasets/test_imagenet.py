"""Subsets of ImageNet from folders, class archives and the official archive."""

import io
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from likewise.errors import DatasetError
from likewise_bench.datasets import Dataset, load_dataset
from likewise_bench.datasets.base import synsets

MakeTar = Callable[[Path, Mapping[str, bytes]], Path]


def members(synset: str, jpeg: Callable[[int], bytes]) -> dict[str, bytes]:
    brightness = 10 * (1 + list(synsets("imagenet10")).index(synset))
    return {f"{synset}_{i}.JPEG": jpeg(brightness + 5 * i) for i in (2, 1)}


def check(dataset: Dataset) -> None:
    names = list(synsets("imagenet10").values())
    assert dataset.labels("class").tolist() == [name for name in names for _ in range(2)]
    assert dataset.labels("personalised")[:4].tolist() == ["river", "river", "land", "land"]
    assert dataset.collection is not None
    for index in range(20):
        expected = 10 * (1 + index // 2) + 5 * (1 + index % 2)
        assert abs(int(dataset.collection.pixels(index)[4, 4, 0]) - expected) <= 2
    assert dataset.train is None


@pytest.mark.parametrize("below", ["", "train", "ILSVRC/Data/CLS-LOC/train"])
def test_folders_of_classes_are_found(
    tmp_path: Path, jpeg: Callable[[int], bytes], below: str
) -> None:
    for synset in [*synsets("imagenet10"), "n01440764"]:
        folder = tmp_path / below / synset
        folder.mkdir(parents=True)
        files = members(synset, jpeg) if synset != "n01440764" else {"other.JPEG": jpeg(1)}
        for name, content in files.items():
            (folder / name).write_bytes(content)
    check(load_dataset("imagenet10", tmp_path))


def test_archives_of_classes_are_found(
    tmp_path: Path, jpeg: Callable[[int], bytes], make_tar: MakeTar
) -> None:
    for synset in synsets("imagenet10"):
        make_tar(tmp_path / f"{synset}.tar", members(synset, jpeg))
    check(load_dataset("imagenet10", tmp_path))


@pytest.fixture
def whole(tmp_path: Path, jpeg: Callable[[int], bytes], make_tar: MakeTar) -> Path:
    """Return the official archive of archives, small."""
    path = tmp_path / "official" / "ILSVRC2012_img_train.tar"
    path.parent.mkdir()
    with tarfile.open(path, "w") as archive:
        for synset in ["n01440764", *synsets("imagenet10")]:
            files = members(synset, jpeg) if synset != "n01440764" else {"other.JPEG": jpeg(1)}
            content = make_tar(tmp_path / "one.tar", files).read_bytes()
            member = tarfile.TarInfo(f"{synset}.tar")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_the_official_archive_is_read_without_unpacking(whole: Path) -> None:
    check(load_dataset("imagenet10", whole.parent))
    check(load_dataset("imagenet10", whole))


def test_a_truncated_official_archive_is_rejected(whole: Path) -> None:
    whole.write_bytes(whole.read_bytes()[:100_000])
    with pytest.raises(
        DatasetError,
        match=r"damaged or incomplete \('.*/official/ILSVRC2012_img_train.tar': .* "
        r"https://image-net.org",
    ):
        load_dataset("imagenet10", whole.parent)


@pytest.mark.parametrize("where", ["header", "data"])
def test_a_truncated_class_archive_is_named_in_the_error(
    tmp_path: Path, jpeg: Callable[[int], bytes], make_tar: MakeTar, where: str
) -> None:
    for synset in synsets("imagenet10"):
        make_tar(tmp_path / f"{synset}.tar", members(synset, jpeg))
    broken = tmp_path / f"{list(synsets('imagenet10'))[4]}.tar"
    with tarfile.open(broken) as archive:
        second = archive.getmembers()[1]
    end = second.offset + 100 if where == "header" else second.offset_data + 100
    broken.write_bytes(broken.read_bytes()[:end])
    with pytest.raises(
        DatasetError,
        match=rf"^An archive of imagenet10 is damaged or incomplete \('{broken}': .*\); "
        "download it again from https://image-net.org",
    ):
        load_dataset("imagenet10", tmp_path)


def test_another_file_than_the_archive_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "n01847000.tar").write_bytes(b"x")
    with pytest.raises(
        DatasetError,
        match=r"n01847000.tar' is a file, but not ILSVRC2012_img_train.tar; --data must be",
    ):
        load_dataset("imagenet10", tmp_path / "n01847000.tar")


def test_classes_without_images_are_named_in_the_error(
    tmp_path: Path, jpeg: Callable[[int], bytes], make_tar: MakeTar
) -> None:
    for synset in list(synsets("imagenet10"))[:8]:
        make_tar(tmp_path / f"{synset}.tar", members(synset, jpeg))
    with pytest.raises(
        DatasetError,
        match=r"no images of 2 of the 10 classes of imagenet10 .'n03947888', 'n04461696'.",
    ):
        load_dataset("imagenet10", tmp_path)


@pytest.mark.parametrize("name", ["imagenet10", "imagenet10-dac", "imagenet-dogs"])
def test_without_a_folder_the_error_says_where_to_download_the_data_set(name: str) -> None:
    with pytest.raises(
        DatasetError, match=f"'{name}' needs .* ILSVRC2012_img_train.tar from https://"
    ):
        load_dataset(name)
