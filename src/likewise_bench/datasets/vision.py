"""CIFAR-10, CIFAR-100, STL-10, Fashion-MNIST and Tiny-ImageNet."""

import gzip
import math
import zlib
from pathlib import Path, PurePosixPath

import numpy as np
import numpy.typing as npt

from likewise.errors import DatasetError
from likewise.images.in_memory import ArrayCollection
from likewise_bench.datasets.archives import (
    ArchiveCollection,
    Form,
    Published,
    members_of,
    read_pickle,
)
from likewise_bench.datasets.base import Dataset, class_names, criteria, some


def load_class_folders(source: Published, form: Form, path: Path) -> Dataset:
    """Load ``train/<class>/*`` and ``test/<class>/*``; first the training, then the test images.

    Raises
    ------
    DatasetError
        If there are no training images, or images of an unknown class.
    """
    with source.reading(form, path):
        pieces = [(PurePosixPath(piece.name).parts, piece) for piece in members_of(path)]
    by_part = {
        part: [(parts[-2], piece) for parts, piece in pieces if parts[-3:-2] == (part,)]
        for part in ("train", "test")
    }
    found = by_part["train"] + by_part["test"]
    n_train = len(by_part["train"])
    unknown = sorted({name for name, _ in found} - set(class_names(source.name)))
    if unknown or not n_train:
        reason = f"images of {some(unknown)}" if unknown else "no images in train/<class>/"
        raise DatasetError(
            f"{str(path)!r} has {reason}, so it is not the data set {source.name!r} "
            f"(classes: {', '.join(class_names(source.name))}); give another folder or archive."
        )
    return Dataset(
        source.name,
        criteria(source.name, np.array([name for name, _ in found])),
        ArchiveCollection([piece for _, piece in found]),
        train=np.arange(n_train),
        test=np.arange(n_train, len(found)) if by_part["test"] else None,
    )


_PAGE = "https://www.cs.toronto.edu/~kriz/cifar.html"
_BATCHES = (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch")
_N_VALUES = 3 * 32 * 32
_Bytes = npt.NDArray[np.uint8]

CIFAR10 = Published(
    "cifar10",
    _PAGE,
    (
        Form(
            "cifar-10-python.tar.gz",
            "cifar-10-batches-py",
            _BATCHES,
            170_498_071,
            "c58f30108f718f92721af3b95e74349a",
        ),
        Form(
            "cifar-10-binary.tar.gz",
            "cifar-10-batches-bin",
            tuple(f"{batch}.bin" for batch in _BATCHES),
            170_052_171,
            "c32a1d4ab5d03f1284b67883e8d87530",
        ),
        Form(
            "cifar10.zip",
            "cifar10",
            tuple(f"train/{name}" for name in class_names("cifar10")),
            is_on_page=False,
        ),
    ),
)
CIFAR100 = Published(
    "cifar100",
    _PAGE,
    (
        Form(
            "cifar-100-python.tar.gz",
            "cifar-100-python",
            ("train", "test"),
            169_001_437,
            "eb9058c3a382ffc7106e4002c42a8d85",
        ),
        Form(
            "cifar-100-binary.tar.gz",
            "cifar-100-binary",
            ("train.bin", "test.bin"),
            168_513_733,
            "03b5dce01913d631647c71ecec9e9cb8",
        ),
    ),
)


def load_cifar10(data: Path | None) -> Dataset:
    """Load CIFAR-10 from any of its three forms; first the training, then the test images."""
    form, path = CIFAR10.find(data)
    if form.archive.endswith(".zip"):
        return load_class_folders(CIFAR10, form, path)
    return _load(CIFAR10, form, path, label="labels", n_label_bytes=1)


def load_cifar100(data: Path | None) -> Dataset:
    """Load CIFAR-100 from either of its forms; first the training, then the test images."""
    form, path = CIFAR100.find(data)
    return _load(CIFAR100, form, path, label="fine_labels", n_label_bytes=2)


def _load(source: Published, form: Form, path: Path, *, label: str, n_label_bytes: int) -> Dataset:
    """Read batches; the last of `form` is the test set. The fine label precedes the pixels."""
    contents = source.read_files(form, path)
    batches = [
        _binary(content, name, n_label_bytes)
        if name.endswith(".bin")
        else _python(content, name, label)
        for name, content in contents.items()
    ]
    numbers = np.concatenate([numbers for numbers, _ in batches])
    names = np.array(class_names(source.name))
    if numbers.max(initial=0) >= len(names) or numbers.min(initial=0) < 0:
        raise DatasetError(
            f"{str(path)!r} has labels from {numbers.min()} to {numbers.max()}, but "
            f"{source.name} has {len(names)} classes; give the folder of {source.name}."
        )
    pixels = np.concatenate([pixels for _, pixels in batches])
    images = pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    n_train = len(numbers) - len(batches[-1][0])
    return Dataset(
        source.name,
        criteria(source.name, names[numbers]),
        ArrayCollection(np.ascontiguousarray(images)),
        train=np.arange(n_train),
        test=np.arange(n_train, len(numbers)),
    )


def _python(content: bytes, name: str, label: str) -> tuple[npt.NDArray[np.intp], _Bytes]:
    """Return the labels and pixels (n, 3072) of a pickled batch."""
    batch = read_pickle(content, name)
    if label not in batch or "data" not in batch:
        raise DatasetError(
            f"{name!r} must have {label!r} and 'data', got {', '.join(sorted(batch))}; "
            "it belongs to another data set: give the folder of the right one."
        )
    try:
        numbers, pixels = np.asarray(batch[label], dtype=np.intp), np.asarray(batch["data"])
    except (OverflowError, TypeError, ValueError) as error:  # lists of lists, None, huge numbers
        raise DatasetError(
            f"{name!r} cannot be read as arrays ({error}); it is damaged or not the official "
            "file: download the archive again."
        ) from error
    if numbers.ndim != 1:
        raise DatasetError(
            f"{name!r} must have one label per image, got labels of shape {numbers.shape}; "
            "it is damaged or not the official file: download the archive again."
        )
    if pixels.dtype != np.uint8 or pixels.shape != (len(numbers), _N_VALUES):
        raise DatasetError(
            f"{name!r} must have uint8 pixels of shape ({len(numbers)}, {_N_VALUES}), got "
            f"{pixels.dtype} of shape {pixels.shape}; download the archive again."
        )
    return numbers, pixels


def _binary(content: bytes, name: str, n_label_bytes: int) -> tuple[npt.NDArray[np.intp], _Bytes]:
    """Return the labels and pixels (n, 3072) of a file of records."""
    n_record = n_label_bytes + _N_VALUES
    if not content or len(content) % n_record:
        raise DatasetError(
            f"{name!r} must be a multiple of {n_record:,} bytes, got {len(content):,}; it is "
            "truncated or belongs to another data set: unpack it again."
        )
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, n_record)
    return records[:, n_label_bytes - 1].astype(np.intp), records[:, n_label_bytes:]


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

    Unlabelled images are memory-mapped, which is not possible in the packed archive.
    """
    form, path = STL10.find(data)
    contents = STL10.read_files(form, path)
    parts = [_part(contents, part) for part in ("train", "test")]
    images = np.concatenate([images for images, _ in parts])
    numbers = np.concatenate([numbers for _, numbers in parts])
    n_train = len(parts[0][1])
    return Dataset(
        "stl10",
        criteria("stl10", np.array(class_names("stl10"))[numbers]),
        ArrayCollection(images),
        train=np.arange(n_train),
        test=np.arange(n_train, len(numbers)),
        unlabelled=_unlabelled(path / "unlabeled_X.bin"),
    )


def _unlabelled(path: Path) -> ArrayCollection | None:
    if not path.is_file():
        return None
    n_bytes, n_image_bytes = path.stat().st_size, 3 * _SIZE * _SIZE
    if n_bytes == 0 or n_bytes % n_image_bytes:
        raise DatasetError(
            f"{str(path)!r} must be a multiple of {n_image_bytes:,} bytes, got {n_bytes:,}; it is "
            "truncated: unpack the archive again, or remove this file to use no unlabelled "
            "images."
        )
    on_disk = np.memmap(path, dtype=np.uint8, mode="r").reshape(-1, 3, _SIZE, _SIZE)
    return ArrayCollection(on_disk.transpose(0, 3, 2, 1))


def _part(
    contents: dict[str, bytes], part: str
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.intp]]:
    """Return images (n, 96, 96, 3), stored column by column in the file, and classes from 0."""
    content, labels = contents[f"{part}_X.bin"], contents[f"{part}_y.bin"]
    n_image_bytes = 3 * _SIZE * _SIZE
    if not labels or len(content) != len(labels) * n_image_bytes:
        raise DatasetError(
            f"'{part}_X.bin' must have {n_image_bytes:,} bytes per label of '{part}_y.bin', got "
            f"{len(content):,} bytes and {len(labels):,} labels; one of them is truncated: "
            "unpack the archive again."
        )
    images = np.frombuffer(content, dtype=np.uint8).reshape(-1, 3, _SIZE, _SIZE)
    numbers = np.frombuffer(labels, dtype=np.uint8).astype(np.intp) - 1
    if numbers.min() < 0 or numbers.max() > 9:
        raise DatasetError(
            f"'{part}_y.bin' must have labels from 1 to 10, got {numbers.min() + 1} to "
            f"{numbers.max() + 1}; it is damaged: unpack the archive again."
        )
    return np.ascontiguousarray(images.transpose(0, 3, 2, 1)), numbers


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
                f"must be images and their classes from 0 to 9; download both from {_WHERE}."
            )
    classes = np.array(class_names("fashion-mnist"))[np.concatenate([labels, test_labels])]
    return Dataset(
        "fashion-mnist",
        criteria("fashion-mnist", classes),
        ArrayCollection(np.concatenate([images, test_images])),
        train=np.arange(len(labels)),
        test=np.arange(len(labels), len(classes)),
    )


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """Return the array in an IDX file of bytes, gzipped or not.

    Format: two zero bytes, 8 (type uint8), the number of dimensions, each dimension as a
    big-endian 32-bit integer, then the values.
    """
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(
            f"{str(path)!r} is damaged or incomplete ({error}); download it again from {_WHERE}."
        ) from error
    n_head = 4 + 4 * content[3] if content[:3] == b"\0\0\x08" and len(content) > 3 else 0
    shape = np.frombuffer(content[4:n_head], ">u4").tolist() if n_head <= len(content) else []
    if not shape or math.prod(shape) != len(content) - n_head:
        raise DatasetError(
            f"{str(path)!r} is not a complete IDX file of uint8 (shape {shape}, "
            f"{len(content):,} bytes); download it again from {_WHERE}."
        )
    return np.frombuffer(content, np.uint8, offset=n_head).reshape(shape)


def _find(data: Path | None, file: str) -> Path:
    """Return the path of a file, with or without ``.gz``; names also occur with a dot."""
    if data is None:
        raise DatasetError(
            "The data set 'fashion-mnist' needs a folder (--data); download its four files from "
            f"{_WHERE} and give their folder."
        )
    if data.is_file():
        raise DatasetError(
            f"{str(data)!r} is a file; --data must be the folder of the four files of "
            f"'fashion-mnist' (from {_WHERE})."
        )
    names = [file + ".gz", file, file.replace("-idx", ".idx")]
    for path in (data / folder / name for folder in _FOLDERS for name in names):
        if path.is_file():
            return path
    raise DatasetError(
        f"{str(data)!r} lacks {file}.gz of the data set 'fashion-mnist'; download its four files "
        f"from {_WHERE} and put them there."
    )


TINY_IMAGENET = Published(
    "tiny-imagenet",
    "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
    (
        Form(
            "tiny-imagenet-200.zip",
            "tiny-imagenet-200",
            ("train",),
            248_100_043,
            "90528d7ca1a48142e341f4ef8d21d0de",
        ),
    ),
)


def load_tiny_imagenet(data: Path | None) -> Dataset:
    """Load the training images, ``train/<synset>/images/*.JPEG``; a class is its synset."""
    form, path = TINY_IMAGENET.find(data)
    with TINY_IMAGENET.reading(form, path):
        pieces = [(PurePosixPath(piece.name).parts, piece) for piece in members_of(path)]
    found = [
        (parts[-3], piece)
        for parts, piece in pieces
        if parts[-2:-1] == ("images",) and parts[-4:-3] == ("train",)
    ]
    if not found:
        raise DatasetError(
            f"{str(path)!r} has no images in train/<class>/images/, so it is not Tiny-ImageNet; "
            f"{TINY_IMAGENET.how_to_get('a folder')} and give that folder."
        )
    classes = np.array([name for name, _ in found])
    images = ArchiveCollection([piece for _, piece in found])
    return Dataset("tiny-imagenet", {"class": classes}, images)
