"""Archives that are missing, truncated, damaged or not the official ones."""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from likewise.errors import DatasetError, LikewiseWarning
from likewise_bench.datasets.archives import Form, Published

MakeTar = Callable[[Path, Mapping[str, bytes]], Path]
FORM = Form("toy.tar.gz", "toy-files", ("one.bin", "two.bin"))
TOY = Published("toy", "https://example.org/toy", (FORM,))
CONTENTS = {"one.bin": b"1" * 5000, "two.bin": bytes(range(256)) * 40}


@pytest.fixture
def archive(tmp_path: Path, make_tar: MakeTar) -> Path:
    return make_tar(tmp_path / "toy.tar.gz", {f"toy-files/{k}": v for k, v in CONTENTS.items()})


def official(archive: Path, md5: str | None = None) -> Published:
    """Return the toy set as if `archive` were the official one."""
    md5 = md5 or hashlib.md5(archive.read_bytes(), usedforsecurity=False).hexdigest()
    form = dataclasses.replace(FORM, n_bytes=archive.stat().st_size, md5=md5)
    return dataclasses.replace(TOY, forms=(form,))


def test_the_official_archive_is_read_without_a_warning(archive: Path) -> None:
    toy = official(archive)
    assert toy.read_files(*toy.find(archive.parent)) == CONTENTS


def test_files_are_in_the_order_of_the_form(tmp_path: Path, make_tar: MakeTar) -> None:
    make_tar(tmp_path / "toy.tar.gz", {f"toy-files/{k}": CONTENTS[k] for k in reversed(CONTENTS)})
    assert list(TOY.read_files(*TOY.find(tmp_path)).items()) == list(CONTENTS.items())


def test_without_a_folder_the_error_says_where_to_download_the_data_set() -> None:
    with pytest.raises(
        DatasetError,
        match=r"'toy' needs a folder \(--data\); download toy.tar.gz from "
        r"https://example.org/toy, put it into a folder and give that folder\.",
    ):
        TOY.find(None)


def test_the_error_for_a_missing_archive_lists_expected_files_and_the_folder(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        DatasetError,
        match=r"has no files of the data set 'toy' \(expected toy.tar.gz, toy-files/\); "
        r"download toy.tar.gz from https://example.org/toy, put it into '.*'\.",
    ):
        TOY.find(tmp_path)


def test_a_missing_folder_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"nowhere' is not a folder with the files"):
        TOY.find(tmp_path / "nowhere")


def test_another_file_than_the_archive_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(b"x")
    with pytest.raises(
        DatasetError,
        match=r"notes.txt' is not a file of the data set 'toy' \(expected toy.tar.gz, "
        r"toy-files/\); --data must be a folder: download toy.tar.gz from "
        r"https://example.org/toy, put it into a folder and give that folder\.$",
    ):
        TOY.find(tmp_path / "notes.txt")


def test_a_wrong_checksum_gives_both_sums(archive: Path) -> None:
    toy = official(archive, md5="0" * 32)
    with pytest.raises(DatasetError, match=f"wrong checksum .MD5 [0-9a-f]{{32}}, not {'0' * 32}."):
        toy.find(archive.parent)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_the_error_for_a_truncated_archive_gives_both_sizes(archive: Path, share: float) -> None:
    toy, n_bytes = official(archive), archive.stat().st_size
    archive.write_bytes(archive.read_bytes()[: int(share * n_bytes)])
    with pytest.raises(
        DatasetError,
        match=rf"damaged or incomplete \({int(share * n_bytes):,} instead of {n_bytes:,} bytes",
    ):
        toy.read_files(*toy.find(archive.parent))


def test_a_damaged_archive_is_named_in_the_error(archive: Path) -> None:
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 0xFF
    archive.write_bytes(content)
    with pytest.raises(DatasetError, match=r"toy.tar.gz' is damaged .* again from https://example"):
        TOY.read_files(*TOY.find(archive.parent))


def test_a_complete_archive_of_another_size_is_read_with_a_warning(archive: Path) -> None:
    form = dataclasses.replace(FORM, n_bytes=12_345_678)
    toy = dataclasses.replace(TOY, forms=(form,))
    with pytest.warns(
        LikewiseWarning, match=r"instead of 12,345,678 bytes\); results on it are not comp"
    ):
        assert toy.read_files(*toy.find(archive)) == CONTENTS


def test_the_error_names_files_missing_from_an_archive(tmp_path: Path, make_tar: MakeTar) -> None:
    make_tar(tmp_path / "toy.tar.gz", {"toy-files/one.bin": b"1"})
    with pytest.raises(DatasetError, match=r"toy.tar.gz' lacks 'two.bin' of the data set 'toy'"):
        TOY.read_files(*TOY.find(tmp_path))


def test_the_error_names_files_missing_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "toy-files").mkdir()
    (tmp_path / "toy-files" / "two.bin").write_bytes(b"2")
    with pytest.raises(
        DatasetError,
        match=r"lacks 'one.bin' of .* unpack toy.tar.gz again, or download it again from https://e",
    ):
        TOY.find(tmp_path)
