"""CIFAR-10 and CIFAR-100: the python and the binary version, and folders of JPEG files."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from likewise.benchmark.datasets.class_folders import load_class_folders
from likewise.benchmark.datasets.dataset import Dataset
from likewise.benchmark.datasets.pickles import read_pickle
from likewise.benchmark.datasets.published import Form, Published
from likewise.benchmark.orientations import class_names, orientations
from likewise.errors import DatasetError
from likewise.images.arrays import ArrayCollection

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
    """Read batches; the last of `form` is the test set. The fine label stands before the pixels."""
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
    pictures = pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    n_train = len(numbers) - len(batches[-1][0])
    return Dataset(
        source.name,
        orientations(source.name, names[numbers]),
        ArrayCollection(np.ascontiguousarray(pictures)),
        train=np.arange(n_train),
        test=np.arange(n_train, len(numbers)),
    )


def _python(content: bytes, name: str, label: str) -> tuple[npt.NDArray[np.intp], _Bytes]:
    """Return the labels and pixels (n, 3072) of a pickled batch."""
    batch = read_pickle(content, name)
    if label not in batch or "data" not in batch:
        raise DatasetError(
            f"{name!r} has {', '.join(sorted(batch))}, but no {label!r} or no 'data'; "
            "it is a batch of another data set: give the folder of the right one."
        )
    try:
        numbers, pixels = np.asarray(batch[label], dtype=np.intp), np.asarray(batch["data"])
    except (OverflowError, TypeError, ValueError) as error:  # lists of lists, None, huge numbers
        raise DatasetError(
            f"{name!r} cannot be read as arrays ({error}); it is broken, or not the official "
            "file: download the archive again."
        ) from error
    if numbers.ndim != 1:
        raise DatasetError(
            f"{name!r} holds labels of shape {numbers.shape}, not one for each picture; "
            "it is broken, or not the official file: download the archive again."
        )
    if pixels.dtype != np.uint8 or pixels.shape != (len(numbers), _N_VALUES):
        raise DatasetError(
            f"{name!r} holds {pixels.dtype} of shape {pixels.shape} for {len(numbers)} labels, "
            f"not bytes of shape ({len(numbers)}, {_N_VALUES}); download the archive again."
        )
    return numbers, pixels


def _binary(content: bytes, name: str, n_label_bytes: int) -> tuple[npt.NDArray[np.intp], _Bytes]:
    """Return the labels and pixels (n, 3072) of a file of records."""
    n_record = n_label_bytes + _N_VALUES
    if not content or len(content) % n_record:
        raise DatasetError(
            f"{name!r} has {len(content):,} bytes, which are no whole number of pictures of "
            f"{n_record:,} bytes; it is cut short, or of another data set: unpack it again."
        )
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, n_record)
    return records[:, n_label_bytes - 1].astype(np.intp), records[:, n_label_bytes:]
