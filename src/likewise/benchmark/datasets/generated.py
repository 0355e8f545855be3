"""Data sets that need no files: `scenes`, which we paint, and scikit-learn's `digits`."""

from pathlib import Path

import numpy as np

from likewise.benchmark.datasets.dataset import Dataset
from likewise.benchmark.scenes import make_scenes
from likewise.images.arrays import ArrayCollection


def load_scenes(data: Path | None = None, *, n_images: int = 2048, seed: int = 0) -> Dataset:
    """Paint `scenes`; `data` is not used."""
    pictures, orientations = make_scenes(n_images, seed=seed)
    return Dataset("scenes", orientations, ArrayCollection(pictures))


def load_digits(data: Path | None = None) -> Dataset:
    """Return 1,797 handwritten digits of 8 x 8 pixels, as pictures and as vectors.

    Sorted by `digit`, by `parity` and by `half`: the last two are unions of
    digits that look nothing alike.
    """
    from sklearn import datasets

    bunch = datasets.load_digits()
    digits = bunch.target
    orientations = {
        "digit": digits.astype(np.str_),
        "parity": np.where(digits % 2 == 0, "even", "odd"),
        "half": np.where(digits < 5, "0 to 4", "5 to 9"),
    }
    grey = np.rint(bunch.images * (255 / 16)).astype(np.uint8)
    vectors = (bunch.data / 16).astype(np.float32)
    return Dataset("digits", orientations, ArrayCollection(grey), vectors)
