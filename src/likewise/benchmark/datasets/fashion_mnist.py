"""Fashion-MNIST, from its four IDX files, compressed or not."""

import gzip
import math
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from likewise.benchmark.datasets.dataset import Dataset
from likewise.benchmark.orientations import class_names, orientations
from likewise.errors import DatasetError
from likewise.images.arrays import ArrayCollection

_WHERE = (
    "https://github.com/zalandoresearch/fashion-mnist (Debian has them in the package "
    "dataset-fashion-mnist)"
)
_FOLDERS = ("", "fashion-mnist", "FashionMNIST/raw")
_FILES = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}


def load_fashion_mnist(data: Path | None) -> Dataset:
    """Load Fashion-MNIST; first the training, then the test images."""
    (images, labels), (test_images, test_labels) = (
        [read_idx(_find(data, file)) for file in files] for files in _FILES.values()
    )
    for found, numbers, files in (
        (images, labels, _FILES["train"]),
        (test_images, test_labels, _FILES["test"]),
    ):
        if found.ndim != 3 or numbers.shape != found.shape[:1] or numbers.max(initial=0) > 9:
            raise DatasetError(
                f"{files[0]!r} of shape {found.shape} and {files[1]!r} of shape {numbers.shape} "
                f"are not pictures with a class from 0 to 9 each; download both from {_WHERE}."
            )
    classes = np.array(class_names("fashion-mnist"))[np.concatenate([labels, test_labels])]
    return Dataset(
        "fashion-mnist",
        orientations("fashion-mnist", classes),
        ArrayCollection(np.concatenate([images, test_images])),
        train=np.arange(len(labels)),
        test=np.arange(len(labels), len(classes)),
    )


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """Return the array in an IDX file of bytes, gzipped or not.

    The format: two zero bytes, 8 (bytes follow), the number of dimensions,
    each dimension as four bytes with the greatest first, then the values.
    """
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(
            f"{str(path)!r} is broken or half-downloaded ({error}); "
            f"download it again from {_WHERE}."
        ) from error
    n_head = 4 + 4 * content[3] if content[:3] == b"\0\0\x08" and len(content) > 3 else 0
    shape = np.frombuffer(content[4:n_head], ">u4").tolist() if n_head <= len(content) else []
    if not shape or math.prod(shape) != len(content) - n_head:
        raise DatasetError(
            f"{str(path)!r} is no whole IDX file of bytes (shape {shape} in {len(content):,} "
            f"bytes); download it again from {_WHERE}."
        )
    return np.frombuffer(content, np.uint8, offset=n_head).reshape(shape)


def _find(data: Path | None, file: str) -> Path:
    """Return where a file is, with or without ``.gz``; the names also occur with a dot."""
    if data is None:
        raise DatasetError(
            "No folder was given for the data set 'fashion-mnist', which is not part of this "
            f"program; download its four files from {_WHERE} and give their folder (--data)."
        )
    if data.is_file():
        raise DatasetError(
            f"{str(data)!r} is a file; --data wants the folder the four files of the data set "
            f"'fashion-mnist' (from {_WHERE}) are in: give that folder."
        )
    names = [file + ".gz", file, file.replace("-idx", ".idx")]
    for path in (data / folder / name for folder in _FOLDERS for name in names):
        if path.is_file():
            return path
    raise DatasetError(
        f"{str(data)!r} lacks {file}.gz of the data set 'fashion-mnist'; download its four files "
        f"from {_WHERE} and put them there."
    )
