"""Pictures sorted into folders by class, ``train/bird/0338.jpg``: in a folder or in a zip."""

from pathlib import Path, PurePosixPath

import numpy as np

from likewise.benchmark.datasets.dataset import Dataset
from likewise.benchmark.datasets.packed import PackedCollection, pieces_of
from likewise.benchmark.datasets.published import Form, Published
from likewise.benchmark.datasets.words import some
from likewise.benchmark.orientations import class_names, orientations
from likewise.errors import DatasetError


def load_class_folders(source: Published, form: Form, path: Path) -> Dataset:
    """Load ``train/<class>/*`` and ``test/<class>/*``; first the training, then the test images.

    Raises
    ------
    DatasetError
        If there are no training pictures, or pictures of a class the set does not have.
    """
    with source.reading(form, path):
        pieces = [(PurePosixPath(piece.name).parts, piece) for piece in pieces_of(path)]
    by_part = {
        part: [(parts[-2], piece) for parts, piece in pieces if parts[-3:-2] == (part,)]
        for part in ("train", "test")
    }
    found = by_part["train"] + by_part["test"]
    n_train = len(by_part["train"])
    unknown = sorted({name for name, _ in found} - set(class_names(source.name)))
    if unknown or not n_train:
        reason = f"pictures of {some(unknown)}" if unknown else "no pictures in train/<class>/"
        raise DatasetError(
            f"{str(path)!r} has {reason}, so it is not the data set {source.name!r} "
            f"(classes: {', '.join(class_names(source.name))}); give another folder or archive."
        )
    return Dataset(
        source.name,
        orientations(source.name, np.array([name for name, _ in found])),
        PackedCollection([piece for _, piece in found]),
        train=np.arange(n_train),
        test=np.arange(n_train, len(found)) if by_part["test"] else None,
    )
