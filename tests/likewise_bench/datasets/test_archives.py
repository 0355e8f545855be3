"""Archives that are missing, cut short, damaged or not the official ones."""

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


def test_the_official_archive_is_read_without_a_word(archive: Path) -> None:
    toy = official(archive)
    assert toy.read_files(*toy.find(archive.parent)) == CONTENTS


def test_files_come_in_the_order_of_the_form_whatever_the_archives(
    tmp_path: Path, make_tar: MakeTar
) -> None:
    make_tar(tmp_path / "toy.tar.gz", {f"toy-files/{k}": CONTENTS[k] for k in reversed(CONTENTS)})
    assert list(TOY.read_files(*TOY.find(tmp_path)).items()) == list(CONTENTS.items())


def test_no_folder_says_where_to_get_the_set() -> None:
    with pytest.raises(
        DatasetError,
        match=r"No folder was given .* 'toy', .* download toy.tar.gz from "
        r"https://example.org/toy, put it into a folder and give that folder \(--data\)\.",
    ):
        TOY.find(None)


def test_a_missing_archive_says_what_was_looked_for_and_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(
        DatasetError,
        match=r"has none of the files of the data set 'toy' \(looked for toy.tar.gz, toy-files/\); "
        r"download toy.tar.gz from https://example.org/toy, put it into '.*'\.",
    ):
        TOY.find(tmp_path)


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"nowhere' is no folder with the files"):
        TOY.find(tmp_path / "nowhere")


def test_a_file_is_told_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(b"x")
    with pytest.raises(
        DatasetError,
        match=r"notes.txt' is a file, and none of the data set 'toy' \(looked for toy.tar.gz, "
        r"toy-files/\); --data wants the folder: download toy.tar.gz from "
        r"https://example.org/toy, put it into a folder and give that folder\.$",
    ):
        TOY.find(tmp_path / "notes.txt")


def test_a_wrong_checksum_gives_both_sums(archive: Path) -> None:
    toy = official(archive, md5="0" * 32)
    with pytest.raises(DatasetError, match=f"wrong checksum .MD5 [0-9a-f]{{32}}, not {'0' * 32}."):
        toy.find(archive.parent)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_a_half_downloaded_archive_says_how_much_of_it_is_there(
    archive: Path, share: float
) -> None:
    toy, n_bytes = official(archive), archive.stat().st_size
    archive.write_bytes(archive.read_bytes()[: int(share * n_bytes)])
    with pytest.raises(
        DatasetError,
        match=rf"broken or half-downloaded \({int(share * n_bytes):,} instead of {n_bytes:,} bytes",
    ):
        toy.read_files(*toy.find(archive.parent))


def test_a_damaged_archive_is_named(archive: Path) -> None:
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 0xFF
    archive.write_bytes(content)
    with pytest.raises(DatasetError, match=r"toy.tar.gz' is broken .* again from https://example"):
        TOY.read_files(*TOY.find(archive.parent))


def test_a_whole_archive_of_another_size_is_read_with_a_warning(archive: Path) -> None:
    form = dataclasses.replace(FORM, n_bytes=12_345_678)
    toy = dataclasses.replace(TOY, forms=(form,))
    with pytest.warns(LikewiseWarning, match=r"instead of 12,345,678 bytes\); it was read, but"):
        assert toy.read_files(*toy.find(archive)) == CONTENTS


def test_an_archive_that_lacks_a_file_names_it(tmp_path: Path, make_tar: MakeTar) -> None:
    make_tar(tmp_path / "toy.tar.gz", {"toy-files/one.bin": b"1"})
    with pytest.raises(DatasetError, match=r"toy.tar.gz' lacks 'two.bin' of the data set 'toy'"):
        TOY.read_files(*TOY.find(tmp_path))


def test_a_folder_unpacked_half_way_names_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "toy-files").mkdir()
    (tmp_path / "toy-files" / "two.bin").write_bytes(b"2")
    with pytest.raises(
        DatasetError,
        match=r"lacks 'one.bin' of .* unpack toy.tar.gz again, or download it again from https://e",
    ):
        TOY.find(tmp_path)
