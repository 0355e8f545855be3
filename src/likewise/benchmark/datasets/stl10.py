"""STL-10: 5,000 labelled images to train and 8,000 to test, of 96 x 96 pixels; 100,000 without."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from likewise.benchmark.datasets.dataset import Dataset
from likewise.benchmark.datasets.published import Form, Published
from likewise.benchmark.orientations import class_names, orientations
from likewise.errors import DatasetError
from likewise.images.arrays import ArrayCollection

_SIZE = 96
STL10 = Published(
    "stl10",
    "https://cs.stanford.edu/~acoates/stl10/",
    (
        Form(
            "stl10_binary.tar.gz",
            "stl10_binary",
            ("train_X.bin", "train_y.bin", "test_X.bin", "test_y.bin"),
            2_640_397_119,
            "91f7769df0f17e558f3565bffb0c7dfb",
        ),
    ),
)


def load_stl10(data: Path | None) -> Dataset:
    """Load STL-10's labelled images, and from the unpacked folder also the unlabelled ones.

    These stay on disk and are read as they are looked at; out of the packed archive they
    cannot be read so, and are left alone.
    """
    form, path = STL10.find(data)
    contents = STL10.read_files(form, path)
    parts = [_part(contents, part) for part in ("train", "test")]
    pictures = np.concatenate([pictures for pictures, _ in parts])
    numbers = np.concatenate([numbers for _, numbers in parts])
    n_train = len(parts[0][1])
    return Dataset(
        "stl10",
        orientations("stl10", np.array(class_names("stl10"))[numbers]),
        ArrayCollection(pictures),
        train=np.arange(n_train),
        test=np.arange(n_train, len(numbers)),
        unlabelled=_unlabelled(path / "unlabeled_X.bin"),
    )


def _unlabelled(path: Path) -> ArrayCollection | None:
    if not path.is_file():
        return None
    n_bytes, n_picture = path.stat().st_size, 3 * _SIZE * _SIZE
    if n_bytes == 0 or n_bytes % n_picture:
        raise DatasetError(
            f"{str(path)!r} has {n_bytes:,} bytes, which is no whole number of pictures of "
            f"{n_picture:,}; it is cut short: unpack the archive again, or remove this file to do "
            "without the unlabelled images."
        )
    on_disk = np.memmap(path, dtype=np.uint8, mode="r").reshape(-1, 3, _SIZE, _SIZE)
    return ArrayCollection(on_disk.transpose(0, 3, 2, 1))


def _part(
    contents: dict[str, bytes], part: str
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.intp]]:
    """Return pictures (n, 96, 96, 3), which the file holds column by column, and classes from 0."""
    content, labels = contents[f"{part}_X.bin"], contents[f"{part}_y.bin"]
    n_picture = 3 * _SIZE * _SIZE
    if not labels or len(content) != len(labels) * n_picture:
        raise DatasetError(
            f"'{part}_X.bin' has {len(content):,} bytes, not the {n_picture:,} a picture that the "
            f"{len(labels):,} labels of '{part}_y.bin' ask for; one of them is cut short: "
            "unpack the archive again."
        )
    pictures = np.frombuffer(content, dtype=np.uint8).reshape(-1, 3, _SIZE, _SIZE)
    numbers = np.frombuffer(labels, dtype=np.uint8).astype(np.intp) - 1
    if numbers.min() < 0 or numbers.max() > 9:
        raise DatasetError(
            f"'{part}_y.bin' has labels from {numbers.min() + 1} to {numbers.max() + 1}, not from "
            "1 to 10; it is damaged: unpack the archive again."
        )
    return np.ascontiguousarray(pictures.transpose(0, 3, 2, 1)), numbers
