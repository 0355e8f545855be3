"""A folder of images and a table of labels, and their mismatches."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from likewise.errors import CollectionError, DatasetError, LikewiseWarning
from likewise_bench.datasets import load_dataset, load_labels_csv
from likewise_bench.datasets.labels_csv import read_labels

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data"


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Return a folder with a.png, b.png and sub/c.png."""
    folder = tmp_path / "photos"
    (folder / "sub").mkdir(parents=True)
    for brightness, name in enumerate(["a.png", "b.png", "sub/c.png"]):
        Image.fromarray(np.full((4, 4, 3), brightness, dtype=np.uint8)).save(folder / name)
    return folder


def table(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder.parent / "labels.csv"
    path.write_bytes(text.encode(encoding))
    return path


GOOD = "file,colour,mood\nsub/c.png,red,glad\na.png,blue,sad\nb.png,red,sad\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GOOD, "utf-8"),
        (GOOD.replace("file", '"file, below"'), "utf-8-sig"),
        (GOOD.replace("\n", "\r"), "utf-8"),
        (GOOD.replace(",", ";"), "utf-8"),
        (GOOD.replace(",", "\t").replace("\n", "\r\n"), "utf-8"),
        (GOOD.replace("a.png,blue", ' ./a.png , "blue"') + "\n\n", "utf-8"),
    ],
)
def test_labels_are_in_the_order_of_the_images(images: Path, text: str, encoding: str) -> None:
    dataset = load_labels_csv(images, table(images, text.replace(' "blue"', "blue"), encoding))
    assert dataset.name == "photos"
    assert dataset.collection is not None
    names = [dataset.collection.name(i) for i in range(3)]
    assert names == ["a.png", "b.png", "sub/c.png"]
    assert dataset.labels("colour").tolist() == ["blue", "red", "red"]
    assert dataset.labels("mood").tolist() == ["sad", "sad", "glad"]


def test_missing_files_of_the_table_are_named_in_the_error(images: Path) -> None:
    path = table(images, GOOD + "d.png,red,sad\n../e.png,red,sad\n")
    with pytest.raises(
        DatasetError,
        match=r"have different files .2 only in the table: '../e.png', 'd.png'.; give",
    ):
        load_labels_csv(images, path)


def test_images_without_a_row_are_named_in_the_error(images: Path) -> None:
    with pytest.raises(
        DatasetError, match=r"different files .2 only in the folder: 'b.png', 'sub/c.png'.; give"
    ):
        load_labels_csv(images, table(images, "file,colour\na.png,blue\n"))


def test_both_kinds_of_mismatch_are_in_one_error(images: Path) -> None:
    path = table(images, GOOD.replace("a.png", "A.png"))
    with pytest.raises(
        DatasetError, match=r"1 only in the table: 'A.png'; 1 only in the folder: 'a.p"
    ):
        load_labels_csv(images, path)


def test_an_unreadable_image_is_skipped_with_a_warning(images: Path) -> None:
    (images / "b.png").write_bytes(b"")
    with pytest.warns(
        LikewiseWarning, match=r"1 of the 3 images in labels.csv cannot be .*:\n'b.png' is empt"
    ):
        dataset = load_labels_csv(images, table(images, GOOD))
    assert dataset.labels("colour").tolist() == ["blue", "red"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"labels.csv' is empty; the first column must be the file"),
        ("file,colour\n", r"has no rows"),
        ("file\na.png\n", r"has one column only; the first column"),
        ("file,colour,colour\na.png,1,2\n", r"has a bad header \('colour'\)"),
        ("file,,mood\na.png,1,2\n", r"has a bad header \(''\)"),
        ("file,colour\na.png,red,blue\n", r"Row 2 of .* has 3 cells where the header has 2"),
        ("file,colour\na.png,red\na.png,blue\n", r"'a.png' occurs twice"),
        (
            "file,colour\na.png,\nb.png, \nsub/c.png,red\n",
            r"has no 'colour' for 2 of 3 files \('a.png', 'b.png'\); fill in these cells, or",
        ),
        ('file,colour\n"a.png,red\n', r"cannot be read as a table \(unexpected end of data"),
    ],
)
def test_an_invalid_table_raises_an_error_with_the_reason(
    images: Path, text: str, message: str
) -> None:
    with pytest.raises(DatasetError, match=message):
        load_labels_csv(images, table(images, text))


def test_empty_cells_of_one_column_do_not_affect_others(images: Path) -> None:
    dataset = load_labels_csv(images, table(images, GOOD.replace("a.png,blue", "a.png,")))
    assert list(dataset.criteria) == ["mood"]
    assert dataset.labels("mood").tolist() == ["sad", "sad", "glad"]
    with pytest.raises(DatasetError, match=r"has no 'colour' for 1 of 3 files \('a.png'\); fill"):
        dataset.labels("colour")


def test_a_table_that_is_not_text_is_rejected(images: Path) -> None:
    path = table(images, "file,colour\na.png,röd\n", encoding="latin-1")
    with pytest.raises(
        DatasetError, match=r"cannot be read as a table .*; save it as CSV in UTF-8"
    ):
        load_labels_csv(images, path)


def test_a_missing_table_is_named_in_the_error(images: Path) -> None:
    with pytest.raises(DatasetError, match=r"The table of labels '.*nope.csv' does not exist"):
        load_labels_csv(images, images / "nope.csv")


def test_a_missing_folder_is_named_in_the_error(images: Path) -> None:
    with pytest.raises(CollectionError, match=r"'.*nowhere' does not exist"):
        load_labels_csv(images.parent / "nowhere", table(images, GOOD))


def test_many_mismatches_give_a_short_error(images: Path) -> None:
    rows = "".join(f"x{i}.png,red,sad\n" for i in range(1000))
    with pytest.raises(DatasetError) as error:
        load_labels_csv(images, table(images, GOOD + rows))
    assert "and 997 more" in str(error.value)
    assert len(str(error.value)) < 500


cells = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
).filter(lambda text: text.strip() == text)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_any_text_can_be_a_label(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    """Separators, quotes and line ends too, as Python's own writer puts them down."""
    path = tmp_path / "any.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["file", "first", "second"])
        writer.writerows((f"{i}.png", *row) for i, row in enumerate(rows))
    columns, found = read_labels(path)
    assert columns == ["first", "second"]
    assert found == {f"{i}.png": list(row) for i, row in enumerate(rows)}


@pytest.mark.parametrize("below", ["cards", ""])
def test_a_named_folder_is_found_in_the_data_folder_or_is_that_folder(
    images: Path, below: str
) -> None:
    home = images.parent / "cards"
    home.mkdir()
    images.rename(home / "images")
    (home / "labels.csv").write_text(GOOD)
    dataset = load_dataset("cards", images.parent if below else home)
    assert dataset.name == "cards"
    assert Counter(dataset.labels("colour").tolist()) == {"red": 2, "blue": 1}


def test_a_missing_named_folder_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        DatasetError,
        match=r"not the folder for the data set 'fruits', which is not public; give the",
    ):
        load_dataset("fruits", tmp_path)
    with pytest.raises(DatasetError, match=r"Missing --data for the data set 'fruits'"):
        load_dataset("fruits")


@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="no ../shared/data")
@pytest.mark.parametrize(
    ("name", "n_images", "n_values"),
    [
        ("fashion", 1740, {"type": 5, "colour": 6, "category": 3, "gender": 5, "usage": 6}),
        ("fruits", 720, {"species": 4, "colour": 3, "variety": 12}),
        ("cards", 1040, {"suit": 4, "rank": 13, "colour": 2, "kind": 2}),
    ],
)
def test_the_shared_folders_are_complete(
    name: str, n_images: int, n_values: dict[str, int]
) -> None:
    dataset = load_dataset(name, DATA)
    assert len(dataset) == n_images
    assert {one: len(set(dataset.labels(one))) for one in n_values} == n_values
