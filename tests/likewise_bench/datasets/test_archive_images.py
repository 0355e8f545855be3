"""Pictures read from inside folders, zips and tars."""

import hashlib
import pickle
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import ImageError
from likewise.images.collection import ImageCollection
from likewise_bench.datasets.archives import ArchiveCollection, members_of, tar_members

MakeTar = Callable[[Path, Mapping[str, bytes]], Path]


@pytest.fixture
def files(jpeg: Callable[[int], bytes]) -> dict[str, bytes]:
    return {"b/two.JPEG": jpeg(200), "a/one.jpg": jpeg(100), "note.txt": b"x", "a/.h.jpg": b"x"}


def place(kind: str, tmp_path: Path, files: Mapping[str, bytes], make_tar: MakeTar) -> Path:
    """Put the files into a folder or an archive."""
    if kind == "tar":
        return make_tar(tmp_path / "pictures.tar", files)
    if kind == "folder":
        for name, content in files.items():
            path = tmp_path / "pictures" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return tmp_path / "pictures"
    method = zipfile.ZIP_DEFLATED if kind == "zip" else zipfile.ZIP_STORED
    with zipfile.ZipFile(tmp_path / "pictures.zip", "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return tmp_path / "pictures.zip"


@pytest.mark.parametrize("kind", ["folder", "tar", "zip", "zip, not deflated"])
def test_images_are_the_same_in_folder_tar_and_zip(
    kind: str, tmp_path: Path, files: dict[str, bytes], make_tar: MakeTar
) -> None:
    collection = ArchiveCollection(list(members_of(place(kind, tmp_path, files, make_tar))))
    assert isinstance(collection, ImageCollection)
    assert [collection.name(i) for i in range(len(collection))] == ["a/one.jpg", "b/two.JPEG"]
    for index, (name, grey) in enumerate([("a/one.jpg", 100), ("b/two.JPEG", 200)]):
        assert collection.identity(index) == hashlib.sha256(files[name]).hexdigest()
        np.testing.assert_allclose(collection.pixels(index), np.full((8, 8, 3), grey), atol=2)


def test_a_collection_can_be_sent_to_another_process(
    tmp_path: Path, files: dict[str, bytes], make_tar: MakeTar
) -> None:
    collection = ArchiveCollection(list(members_of(place("zip", tmp_path, files, make_tar))))
    again = pickle.loads(pickle.dumps(collection))
    np.testing.assert_array_equal(again.pixels(1), collection.pixels(1))


def test_a_removed_file_is_named_in_the_error(
    tmp_path: Path, files: dict[str, bytes], make_tar: MakeTar
) -> None:
    archive = place("zip", tmp_path, files, make_tar)
    collection = ArchiveCollection(list(members_of(archive)))
    archive.write_bytes(b"")
    with pytest.raises(ImageError, match=r"'a/one.jpg' in '.*pictures.zip' cannot be read"):
        collection.pixels(0)


def test_an_image_with_a_wrong_checksum_is_named_in_the_error(
    tmp_path: Path, files: dict[str, bytes], make_tar: MakeTar
) -> None:
    """JPEG has no checksum of its own."""
    archive = place("zip, not deflated", tmp_path, files, make_tar)
    collection = ArchiveCollection(list(members_of(archive)))
    content = bytearray(archive.read_bytes())
    content[content.index(files["b/two.JPEG"]) + len(files["b/two.JPEG"]) - 8] ^= 1
    archive.write_bytes(content)
    assert collection.pixels(0).shape == (8, 8, 3)
    with pytest.raises(ImageError, match=r"'b/two.JPEG' in .* \(wrong checksum\)"):
        collection.pixels(1)


@pytest.mark.parametrize(
    ("kind", "where"), [("zip", "/pictures.zip"), ("tar", "/pictures.tar"), ("folder", "/pictures")]
)
def test_a_truncated_image_in_an_intact_archive_is_named_in_the_error(
    kind: str, where: str, tmp_path: Path, files: dict[str, bytes], make_tar: MakeTar
) -> None:
    files["b/two.JPEG"] = files["b/two.JPEG"][:-40]
    collection = ArchiveCollection(list(members_of(place(kind, tmp_path, files, make_tar))))
    assert collection.pixels(0).shape == (8, 8, 3)
    with pytest.raises(ImageError) as caught:
        collection.pixels(1)
    assert str(caught.value).startswith(f"'b/two.JPEG' in '{tmp_path}{where}' is broken or trunc")


#: A header and one block of data each, then the end: zeros from byte 2,048 on.
BLOCKS = {"one.jpg": b"1" * 512, "two.jpg": b"2" * 500}


@pytest.mark.parametrize(
    ("n_bytes", "reason"),
    [
        (0, "empty file"),
        (100, "truncated header"),
        (1024, "neither a member nor the end of the archive at byte 1,024"),  # between the members
        (1124, "neither a member nor the end of the archive at byte 1,024"),  # in the second header
        (1636, "unexpected end of data"),  # in the second member
        (2048, "neither a member nor the end of the archive at byte 2,048"),
        (2559, "neither a member nor the end of the archive at byte 2,048"),
    ],
)
def test_a_truncated_tar_is_named_in_the_error(
    n_bytes: int, reason: str, tmp_path: Path, make_tar: MakeTar
) -> None:
    archive = make_tar(tmp_path / "cut.tar", BLOCKS)
    archive.write_bytes(archive.read_bytes()[:n_bytes])
    with pytest.raises(tarfile.ReadError) as caught:
        list(tar_members(archive, 0))
    assert str(caught.value) == f"'{archive}': {reason}"


def test_one_block_of_zeros_ends_a_tar(tmp_path: Path, make_tar: MakeTar) -> None:
    archive = make_tar(tmp_path / "short.tar", BLOCKS)
    archive.write_bytes(archive.read_bytes()[:2560])
    assert [piece.name for piece in tar_members(archive, 0)] == ["one.jpg", "two.jpg"]


def test_a_tar_inside_a_file_ends_at_its_own_end(tmp_path: Path, make_tar: MakeTar) -> None:
    content = make_tar(tmp_path / "inner.tar", BLOCKS).read_bytes()
    outer = tmp_path / "outer"
    outer.write_bytes(b"x" * 700 + content + b"more")
    assert [piece.read() for piece in tar_members(outer, 700)] == list(BLOCKS.values())
    outer.write_bytes(b"x" * 700 + content[:1124] + b"more")
    with pytest.raises(tarfile.ReadError, match=r"outer': neither a member .* at byte 1,724"):
        list(tar_members(outer, 700))
