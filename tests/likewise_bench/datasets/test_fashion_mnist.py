"""Fashion-MNIST's IDX files, compressed or not."""

import gzip
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from likewise.errors import DatasetError
from likewise.random_streams import stream
from likewise_bench.datasets import load_dataset
from likewise_bench.datasets.vision import read_idx


def idx(array: npt.NDArray[np.uint8]) -> bytes:
    """Write an array as the format's page says."""
    head = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.tobytes()


PICTURES = stream(0, "fashion-mnist").integers(0, 256, (5, 28, 28), dtype=np.uint8)
FILES = {
    "train-images-idx3-ubyte": idx(PICTURES[:3]),
    "train-labels-idx1-ubyte": idx(np.array([0, 9, 5], dtype=np.uint8)),
    "t10k-images-idx3-ubyte": idx(PICTURES[3:]),
    "t10k-labels-idx1-ubyte": idx(np.array([8, 1], dtype=np.uint8)),
}


def write(folder: Path, files: dict[str, bytes], *, zipped: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / (f"{name}.gz" if zipped else name)
        path.write_bytes(gzip.compress(content) if zipped else content)


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("below", ["", "fashion-mnist", "FashionMNIST/raw"])
def test_images_and_classes_are_read(tmp_path: Path, zipped: bool, below: str) -> None:
    write(tmp_path / below, FILES, zipped=zipped)
    dataset = load_dataset("fashion-mnist", tmp_path)
    classes = ["T-shirt/top", "Ankle boot", "Sandal", "Bag", "Trouser"]
    assert dataset.labels("class").tolist() == classes
    assert dataset.train is not None
    assert dataset.test is not None
    assert (dataset.train.tolist(), dataset.test.tolist()) == ([0, 1, 2], [3, 4])
    assert dataset.collection is not None
    for index in range(5):
        np.testing.assert_array_equal(dataset.collection.pixels(index)[:, :, 1], PICTURES[index])


def test_a_missing_file_is_named_in_the_error(tmp_path: Path) -> None:
    write(tmp_path, FILES, zipped=True)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(
        DatasetError, match=r"lacks t10k-labels-idx1-ubyte.gz of .* package dataset-fashion-mnist"
    ):
        load_dataset("fashion-mnist", tmp_path)


def test_without_a_folder_the_error_says_where_to_download_the_data_set() -> None:
    with pytest.raises(
        DatasetError, match=r"'fashion-mnist' needs a folder .* its four files from https://"
    ):
        load_dataset("fashion-mnist")


def test_labels_of_another_file_are_rejected(tmp_path: Path) -> None:
    files = FILES | {"train-labels-idx1-ubyte": FILES["t10k-labels-idx1-ubyte"]}
    write(tmp_path, files, zipped=False)
    with pytest.raises(DatasetError, match=r"\(3, 28, 28\) and .* of shape \(2,\) must be images"):
        load_dataset("fashion-mnist", tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\0\x08", b"hello", b"\0\0\x08\x03\0\0", FILES["train-images-idx3-ubyte"][:-1]],
)
def test_a_truncated_file_is_named_in_the_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken").write_bytes(content)
    with pytest.raises(DatasetError, match=r"broken' is not a complete IDX file of uint8"):
        read_idx(tmp_path / "broken")


def test_a_truncated_gzip_file_is_named_in_the_error(tmp_path: Path) -> None:
    content = gzip.compress(FILES["train-images-idx3-ubyte"])
    (tmp_path / "half.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(DatasetError, match=r"half.gz' is damaged or incomplete"):
        read_idx(tmp_path / "half.gz")


def test_a_file_instead_of_a_folder_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(b"x")
    with pytest.raises(
        DatasetError, match=r"ubyte.gz' is a file; --data must be the folder of the fou"
    ):
        load_dataset("fashion-mnist", tmp_path / "train-images-idx3-ubyte.gz")
