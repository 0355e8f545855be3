"""Vectors that can be sorted in two ways which have nothing to do with each other."""

from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.estimators.params import NetworkConfig
from likewise.random_streams import stream

TINY = NetworkConfig(n_features=32, n_hidden=32, n_projection=16)
Vectors = npt.NDArray[np.float32]
Labels = npt.NDArray[np.intp]


def two_factors(n: int = 240, k: int = 2, seed: int = 0) -> tuple[Vectors, Labels, Labels]:
    """Return vectors, the grouping that catches the eye, and one that shows less."""
    rng = stream(seed, "two factors")
    bold, faint = rng.integers(k, size=(2, n))
    looks: Any = rng.normal(size=(2, k, 8)) * np.array([3.0, 1.5])[:, None, None]
    noise = rng.normal(size=(n, 16)) * 0.6
    rows = np.hstack([looks[0][bold], looks[1][faint]]) + noise
    return rows.astype(np.float32), bold.astype(np.intp), faint.astype(np.intp)
