"""CIFAR-10 and CIFAR-100 from small files in the forms they are published in."""

import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from likewise.errors import DatasetError, LikewiseWarning
from likewise.random_streams import stream
from likewise_bench.datasets import Dataset, load_dataset
from likewise_bench.datasets.base import class_names

BATCHES = [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]
MakeTar = Callable[[Path, Mapping[str, bytes]], Path]


def pixels_of(n: int, name: str) -> npt.NDArray[np.uint8]:
    return stream(0, "cifar", name).integers(0, 256, (n, 3072), dtype=np.uint8)


def python2_pickle(batch: Mapping[str, Any]) -> bytes:
    """Write a dict as Python 2 did, with byte strings as keys and NumPy's old module names."""
    parts = [
        b"U" + bytes([len(key)]) + key.encode() + pickle.dumps(value, protocol=2)[2:-1]
        for key, value in batch.items()
    ]
    return (b"\x80\x02}(" + b"".join(parts) + b"u.").replace(b"numpy._core", b"numpy.core")


def python_files(n: int = 3) -> dict[str, bytes]:
    return {
        name: python2_pickle(
            {
                "batch_label": f"batch {place}",
                "labels": [(place + i) % 10 for i in range(n)],
                "data": pixels_of(n, name),
                "filenames": ["x.png"] * n,
            }
        )
        for place, name in enumerate(BATCHES)
    }


def binary_files(n: int = 3) -> dict[str, bytes]:
    return {
        f"{name}.bin": b"".join(
            bytes([(place + i) % 10]) + row.tobytes() for i, row in enumerate(pixels_of(n, name))
        )
        for place, name in enumerate(BATCHES)
    }


def check_ten(dataset: Dataset, n: int = 3) -> None:
    """Check the labels, the split and every value of one picture of each batch."""
    names = np.array(class_names("cifar10"))
    numbers = [(place + i) % 10 for place in range(6) for i in range(n)]
    assert dataset.labels("class").tolist() == names[numbers].tolist()
    assert dataset.train is not None
    assert dataset.test is not None
    assert (dataset.train.tolist(), dataset.test.tolist()) == (
        list(range(5 * n)),
        list(range(5 * n, 6 * n)),
    )
    assert dataset.collection is not None
    for place, name in enumerate(BATCHES):
        picture = dataset.collection.pixels(place * n + 1)
        red, green, blue = pixels_of(n, name)[1].reshape(3, 32, 32)
        np.testing.assert_array_equal(picture, np.stack([red, green, blue], axis=2))


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("files", "folder"),
    [(python_files(), "cifar-10-batches-py"), (binary_files(), "cifar-10-batches-bin")],
)
def test_cifar10_is_read_from_unpacked_folders(
    tmp_path: Path, files: Mapping[str, bytes], folder: str
) -> None:
    write(tmp_path / folder, files)
    check_ten(load_dataset("cifar10", tmp_path))
    check_ten(load_dataset("cifar10", tmp_path / folder))


@pytest.mark.parametrize(
    ("files", "folder", "archive"),
    [
        (python_files(), "cifar-10-batches-py", "cifar-10-python.tar.gz"),
        (binary_files(), "cifar-10-batches-bin", "cifar-10-binary.tar.gz"),
    ],
)
def test_cifar10_is_read_from_its_archives(
    tmp_path: Path, make_tar: MakeTar, files: Mapping[str, bytes], folder: str, archive: str
) -> None:
    members = {f"{folder}/{name}": content for name, content in files.items()}
    path = make_tar(tmp_path / archive, {f"{folder}/readme.html": b"hello", **members})
    with pytest.warns(LikewiseWarning, match=r"not the official archive of cifar10 .* not compar"):
        check_ten(load_dataset("cifar10", tmp_path))
    with pytest.warns(LikewiseWarning, match="not the official archive"):
        check_ten(load_dataset("cifar10", path))


#: The order of the official cifar-10-python.tar.gz; the others are out of order likewise.
OUT_OF_ORDER = ["data_batch_4", "test_batch", *(f"data_batch_{i}" for i in (3, 2, 5, 1))]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    ("name", "order", "batches"),
    [("cifar-10", OUT_OF_ORDER, BATCHES), ("cifar-100", ["test", "train"], ["train", "test"])],
)
def test_the_test_set_is_found_anywhere_in_an_archive(
    tmp_path: Path, make_tar: MakeTar, name: str, order: list[str], batches: list[str], binary: bool
) -> None:
    """Each batch is one picture of its place among the batches: as its class, in all its pixels."""
    label = "labels" if name == "cifar-10" else "fine_labels"

    def content(place: int) -> bytes:
        pixels = np.full((1, 3072), place, dtype=np.uint8)
        if not binary:
            return python2_pickle({label: [place], "data": pixels})
        return bytes([place] if name == "cifar-10" else [0, place]) + pixels.tobytes()

    ending, kind = (".bin", "binary") if binary else ("", "python")
    members = {f"x/{batch}{ending}": content(batches.index(batch)) for batch in order}
    make_tar(tmp_path / f"{name}-{kind}.tar.gz", members)
    with pytest.warns(LikewiseWarning, match="not the official archive"):
        dataset = load_dataset(name.replace("-", ""), tmp_path)
    last = len(batches) - 1
    assert dataset.train is not None
    assert dataset.test is not None
    assert (dataset.train.tolist(), dataset.test.tolist()) == (list(range(last)), [last])
    assert dataset.collection is not None
    for place in range(len(batches)):
        assert np.unique(dataset.collection.pixels(place)).tolist() == [place]
    names = class_names(dataset.name)[: len(batches)]
    assert dataset.labels("class").tolist() == list(names)


def test_cifar10_has_both_published_criteria(tmp_path: Path) -> None:
    write(tmp_path / "cifar-10-batches-bin", binary_files())
    dataset = load_dataset("cifar10", tmp_path)
    assert dataset.labels("class")[:3].tolist() == ["airplane", "automobile", "bird"]
    assert dataset.labels("default")[:3].tolist() == ["artifacts", "artifacts", "animals"]
    assert dataset.labels("personalised")[:3].tolist() == ["others", "land", "others"]


def test_cifar100_is_read_from_python_and_binary_files(tmp_path: Path) -> None:
    fine = [0, 1, 99]  # apple, aquarium_fish, worm
    parts = {part: pixels_of(3, part) for part in ("train", "test")}
    write(
        tmp_path / "py" / "cifar-100-python",
        {
            part: python2_pickle({"fine_labels": fine, "coarse_labels": [4, 1, 13], "data": data})
            for part, data in parts.items()
        },
    )
    write(
        tmp_path / "bin" / "cifar-100-binary",
        {
            f"{part}.bin": b"".join(
                bytes([coarse, number]) + row.tobytes()
                for coarse, number, row in zip([4, 1, 13], fine, data, strict=True)
            )
            for part, data in parts.items()
        },
    )
    for dataset in (load_dataset("cifar100", tmp_path / form) for form in ("py", "bin")):
        assert dataset.labels("class").tolist() == ["apple", "aquarium_fish", "worm"] * 2
        assert dataset.labels("superclass")[2] == "non-insect_invertebrates"
        assert dataset.labels("personalised")[2] == "small animals"
        assert dataset.collection is not None
        expected = parts["test"][0].reshape(3, 32, 32).transpose(1, 2, 0)
        np.testing.assert_array_equal(dataset.collection.pixels(3), expected)


def test_a_batch_of_the_other_data_set_is_rejected(tmp_path: Path) -> None:
    batch = python_files()["test_batch"]
    write(tmp_path / "cifar-100-python", {"train": batch, "test": batch})
    with pytest.raises(
        DatasetError, match=r"'train' must have 'fine_labels' and 'data', got batch"
    ):
        load_dataset("cifar100", tmp_path)


def test_folders_named_train_and_test_are_not_cifar100_files(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "test").mkdir()
    with pytest.raises(DatasetError, match=r"has no files .* 'cifar100' \(expected"):
        load_dataset("cifar100", tmp_path)


def test_a_truncated_binary_file_is_named_in_the_error(tmp_path: Path) -> None:
    files = binary_files()
    files["data_batch_4.bin"] = files["data_batch_4.bin"][:-100]
    write(tmp_path / "cifar-10-batches-bin", files)
    with pytest.raises(DatasetError, match=r"'data_batch_4.bin' must be .* 3,073 bytes, got 9,119"):
        load_dataset("cifar10", tmp_path)


def test_labels_outside_the_classes_are_rejected(tmp_path: Path) -> None:
    files = binary_files()
    files["test_batch.bin"] = b"\x0a" + files["test_batch.bin"][1:]
    write(tmp_path / "cifar-10-batches-bin", files)
    with pytest.raises(DatasetError, match="labels from 0 to 10, but cifar10 has 10 classes"):
        load_dataset("cifar10", tmp_path)


def test_pixels_of_another_shape_are_rejected(tmp_path: Path) -> None:
    files = python_files()
    files["data_batch_2"] = python2_pickle({"labels": [0, 1], "data": pixels_of(3, "x")})
    write(tmp_path / "cifar-10-batches-py", files)
    with pytest.raises(DatasetError, match=r"shape \(2, 3072\), got uint8 of shape \(3, 3072\)"):
        load_dataset("cifar10", tmp_path)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"labels": [0, [1, 2]]}, r"'data_batch_2' cannot be read as arrays \(.*it is damaged or"),
        ({"labels": [0, None]}, r"'data_batch_2' cannot be read as arrays \(.*it is damaged or"),
        ({"labels": [0, 2**70]}, r"'data_batch_2' cannot be read as arrays \(.*it is damaged or"),
        ({"data": [[1], [1, 2]]}, r"'data_batch_2' cannot be read as arrays \(.*it is damaged or"),
        ({"labels": 3}, r"'data_batch_2' must have one label per image, got labels of shape \(\)"),
        ({"labels": [[0], [1]]}, r"'data_batch_2' must have one label per image, .* \(2, 1\)"),
    ],
)
def test_labels_and_pixels_that_are_not_arrays_are_rejected(
    tmp_path: Path, batch: Mapping[str, Any], message: str
) -> None:
    files, whole = python_files(), {"labels": [0, 1], "data": pixels_of(2, "x")}
    files["data_batch_2"] = python2_pickle({**whole, **batch})
    write(tmp_path / "cifar-10-batches-py", files)
    with pytest.raises(DatasetError, match=message):
        load_dataset("cifar10", tmp_path)
