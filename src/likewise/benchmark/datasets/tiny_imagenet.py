"""Tiny-ImageNet: 200 classes, 64 x 64 pixels; the training images, which CC clusters."""

from pathlib import Path, PurePosixPath

import numpy as np

from likewise.benchmark.datasets.dataset import Dataset
from likewise.benchmark.datasets.packed import PackedCollection, pieces_of
from likewise.benchmark.datasets.published import Form, Published
from likewise.errors import DatasetError

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
        pieces = [(PurePosixPath(piece.name).parts, piece) for piece in pieces_of(path)]
    found = [
        (parts[-3], piece)
        for parts, piece in pieces
        if parts[-2:-1] == ("images",) and parts[-4:-3] == ("train",)
    ]
    if not found:
        raise DatasetError(
            f"{str(path)!r} has no pictures in train/<class>/images/, so it is not Tiny-ImageNet; "
            f"{TINY_IMAGENET.how_to_get('a folder')} and give that folder."
        )
    classes = np.array([name for name, _ in found])
    pictures = PackedCollection([piece for _, piece in found])
    return Dataset("tiny-imagenet", {"class": classes}, pictures)
