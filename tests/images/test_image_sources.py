"""Images from archives, addresses, tables, data frames and data sets, with the real libraries."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import fsspec
import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from PIL import Image

from likewise import Likewise
from likewise.errors import CollectionError
from likewise.images.as_collection import as_collection, read_local
from likewise.images.collection import ImageCollection
from likewise.images.encoded import copy_to_folder, read_zip
from likewise.images.files import read_folder
from tests.images.conftest import Save
from tests.images.pictures import make_pixels

N = 4


@pytest.fixture
def folder(save: Save, tmp_path: Path) -> Path:
    for i in range(N):
        save(f"photos/sub/{i}.png" if i % 2 else f"photos/{i}.png", seed=i)
    return tmp_path / "photos"


@pytest.fixture
def memory() -> Iterator[Any]:
    files = fsspec.filesystem("memory")
    yield files
    files.store.clear()
    files.pseudo_dirs[:] = [""]


def same_images(collection: ImageCollection, folder: Path) -> None:
    """Compare names, identities and pixels with those of the folder."""
    expected = read_folder(folder)
    assert len(collection) == len(expected)
    for i in range(len(expected)):
        assert collection.name(i) == expected.name(i)
        assert collection.identity(i) == expected.identity(i)
        assert np.array_equal(collection.pixels(i), expected.pixels(i))


def same_pixels(collection: ImageCollection) -> None:
    assert len(collection) == N
    for i in range(N):
        assert np.array_equal(collection.pixels(i), make_pixels(i))


def zipped(folder: Path, target: Path) -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*.png")):
            archive.write(path, path.relative_to(folder))
    return target


# -- archives ----------------------------------------------------------------


def test_a_zip_archive_gives_the_images_of_the_folder(folder: Path, tmp_path: Path) -> None:
    same_images(as_collection(zipped(folder, tmp_path / "photos.zip")), folder)


def test_damaged_and_encrypted_members_are_skipped(folder: Path, tmp_path: Path) -> None:
    path = zipped(folder, tmp_path / "photos.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("broken.jpg", b"no image")
        archive.writestr("__MACOSX/._0.png", b"metadata")
        archive.writestr("notes.txt", b"text")
    collection = read_zip(path)
    assert len(collection) == N
    assert [one.name for one in collection.skipped] == ["broken.jpg"]


def test_not_an_archive(tmp_path: Path) -> None:
    (tmp_path / "photos.zip").write_bytes(b"PK but not more")
    with pytest.raises(CollectionError, match=r"must be a zip archive.*copy it again"):
        as_collection(tmp_path / "photos.zip")
    with pytest.raises(CollectionError, match=r"missing\.zip' does not exist; check its name"):
        as_collection(tmp_path / "missing.zip")


def test_copies_stay_inside_the_folder(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "hostile.zip"
    content = (folder / "0.png").read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("../outside.png", "/absolute.png", "a/../../b.png", "c\\..\\..\\d.png"):
            archive.writestr(name, content)
    target = tmp_path / "in" / "copy"
    assert copy_to_folder(read_zip(path), target) == 4
    assert copy_to_folder(read_zip(path), target) == 0  # files that exist are kept
    written = {one.relative_to(tmp_path).as_posix() for one in tmp_path.rglob("*.png")}
    outside = {name for name in written if not name.startswith(("in/copy/", "photos/"))}
    assert outside == set()


# -- addresses ---------------------------------------------------------------


def test_an_address_gives_the_images_of_the_folder(folder: Path, memory: Any) -> None:
    for path in folder.rglob("*.png"):
        memory.pipe(f"/photos/{path.relative_to(folder).as_posix()}", path.read_bytes())
    memory.pipe("/photos/notes.txt", b"text")
    same_images(as_collection("memory://photos"), folder)
    same_images(as_collection(f"file://{folder}"), folder)


def test_an_archive_at_an_address(folder: Path, tmp_path: Path, memory: Any) -> None:
    memory.pipe("/photos.zip", zipped(folder, tmp_path / "p.zip").read_bytes())
    same_images(as_collection("memory://photos.zip"), folder)


def test_an_image_that_changed_is_not_read(folder: Path, memory: Any) -> None:
    memory.pipe("/photos/0.png", (folder / "0.png").read_bytes())
    collection = as_collection("memory://photos")
    memory.pipe("/photos/0.png", (folder / "2.png").read_bytes())
    with pytest.raises(OSError, match=r"'0\.png' was changed since it was scanned"):
        collection.pixels(0)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("foo://bucket/photos", r"The scheme 'foo' of 'foo://bucket/photos' is not known"),
        ("memory://nothing", r"memory://nothing does not exist or is empty; check the address"),
        ("gs://bucket/photos", r"needs another package .*gcsfs.*likewise\[remote\]"),
    ],
)
def test_addresses_that_cannot_be_read(memory: Any, address: str, message: str) -> None:
    with pytest.raises(CollectionError, match=message):
        as_collection(address)


@pytest.mark.parametrize(
    "error", [PermissionError("Forbidden"), OSError("Unable to locate credentials")]
)
def test_missing_credentials(monkeypatch: pytest.MonkeyPatch, memory: Any, error: OSError) -> None:
    def find(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(type(memory), "find", find)
    with pytest.raises(CollectionError, match=r"no credentials were found .*aws configure"):
        as_collection("memory://photos")


# -- tables and data frames ----------------------------------------------------


def paths_of(folder: Path) -> list[str]:
    return [str(folder / (f"sub/{i}.png" if i % 2 else f"{i}.png")) for i in range(N)]


@pytest.mark.parametrize(
    "column", [pd.Series, pl.Series, np.array, lambda paths: np.array(paths, dtype=object)]
)
def test_columns_of_paths(folder: Path, column: Any) -> None:
    same_pixels(as_collection(column(paths_of(folder))))


def test_data_frames_with_a_column_of_paths(folder: Path) -> None:
    content = {"stars": list(range(N)), "path": paths_of(folder)}
    same_pixels(as_collection(pd.DataFrame(content, index=[7, 5, 3, 1])))
    same_pixels(as_collection(pl.DataFrame(content)))
    with pytest.raises(CollectionError, match=r"must contain paths as texts; name their column"):
        as_collection(pd.DataFrame({"stars": [1, 2]}))


def test_an_estimator_takes_columns_of_paths(folder: Path) -> None:
    for paths in (np.array(paths_of(folder)), pd.Series(paths_of(folder))):
        assert len(Likewise(2, random_state=0).fit(paths).labels_) == N


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_of_paths(folder: Path, tmp_path: Path, ending: str) -> None:
    listed = ["photos/sub/1.png", str(folder / "0.png"), "photos/missing.png"]
    table = pd.DataFrame({"label": ["a", "b", "c"], "path": listed})
    path = tmp_path / f"photos.{ending}"
    getattr(table, f"to_{ending}")(path, index=False)
    collection = read_local(path)
    assert collection.folder == folder
    assert [collection.name(i) for i in range(len(collection))] == ["sub/1.png", "0.png"]
    assert [one.name for one in collection.skipped] == ["missing.png"]
    assert len(as_collection(path)) == 2


def test_a_table_without_a_header(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "photos.csv").write_text("photos/0.png\nphotos/2.png\n")
    assert len(as_collection(tmp_path / "photos.csv")) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("path\n", "has no rows"),
        ("", "has no rows"),
        ("path\nnot/here.png\n", "None of the 1 images listed in .* can be read"),
    ],
)
def test_tables_without_images(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "photos.csv").write_text(content)
    with pytest.raises(CollectionError, match=message):
        as_collection(tmp_path / "photos.csv")


# -- data sets -------------------------------------------------------------------


@pytest.mark.parametrize("column", ["photo", "image"])
def test_a_hugging_face_data_set(folder: Path, column: str) -> None:
    content = {"label": [0] * N, column: paths_of(folder)}
    dataset = datasets.Dataset.from_dict(content).cast_column(column, datasets.Image())
    same_pixels(as_collection(dataset))
    same_pixels(as_collection(dataset[column]))
    embedded = datasets.Dataset.from_list(
        [{"photo": {"bytes": Path(path).read_bytes(), "path": None}} for path in paths_of(folder)]
    ).cast_column("photo", datasets.Image())
    same_pixels(as_collection(embedded))


def test_an_image_inside_a_column_of_a_hugging_face_data_set(folder: Path) -> None:
    rows = [{"meta": {"image": {"path": path, "bytes": None}}} for path in paths_of(folder)]
    features = datasets.Features({"meta": {"image": datasets.Image()}})
    same_pixels(as_collection(datasets.Dataset.from_list(rows, features)["meta"]["image"]))


def test_hugging_face_data_sets_without_images(folder: Path) -> None:
    texts = datasets.Dataset.from_dict({"text": ["a", "b"]})
    with pytest.raises(CollectionError, match=r"no image column; its columns are text"):
        as_collection(texts)
    with pytest.raises(CollectionError, match=r"Give one split .*dataset\['train'\]"):
        as_collection(datasets.DatasetDict(train=texts))
    with pytest.raises(CollectionError, match="A streamed data set has no length"):
        as_collection(texts.to_iterable_dataset())


class Photos(torch.utils.data.Dataset[Any]):
    """As torchvision's ImageFolder with ToTensor: (tensor, label)."""

    def __len__(self) -> int:
        return N

    def __getitem__(self, index: int) -> Any:
        if index >= N:
            raise IndexError(index)
        return torch.tensor(make_pixels(index)).permute(2, 0, 1) / 255, 0


def test_a_torch_data_set() -> None:
    same_pixels(as_collection(Photos()))
    assert len(Likewise(2, random_state=0).fit(Photos()).labels_) == N


def test_pil_images_are_turned_upright(folder: Path) -> None:
    images = [Image.fromarray(make_pixels(i)) for i in range(N)]
    same_pixels(as_collection(images))
    turned = Image.fromarray(make_pixels(1))
    turned.getexif()[0x0112] = 6  # turned by 90 degrees
    collection = as_collection([images[0], turned])
    assert np.array_equal(collection.pixels(1), np.rot90(make_pixels(1), -1))


def test_items_that_are_not_images_are_skipped() -> None:
    class Mixed(Photos):
        def __getitem__(self, index: int) -> Any:
            return "text" if index == 1 else super().__getitem__(index)

    collection = as_collection(Mixed())
    assert [collection.name(i) for i in range(len(collection))] == ["0", "2", "3"]

    class Normalised(Photos):
        def __getitem__(self, index: int) -> Any:
            return (super().__getitem__(index)[0] - 0.5) / 0.2

    with pytest.raises(CollectionError, match=r"values from 0 to 1.*leave out normalisation"):
        as_collection(Normalised())
