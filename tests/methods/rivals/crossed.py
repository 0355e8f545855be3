"""Vectors that can be cut in two ways: one that catches the eye, and one that is meant."""

import numpy as np
import numpy.typing as npt

from likewise.estimators.params import NetworkConfig
from likewise.seeds import stream

SMALL = NetworkConfig(n_features=32, n_hidden=32, n_projection=16)
Rows = npt.NDArray[np.float32]
Labels = npt.NDArray[np.intp]


def crossed(n: int = 160) -> tuple[Rows, Labels, Labels]:
    """Return vectors, the grouping of three quarters of the columns, and that of the rest."""
    rng = stream(0, "crossed")
    bold, meant = rng.integers(2, size=(2, n))
    looks = rng.normal(size=(2, 16)) * 2
    rows = np.hstack([looks[bold, :12], looks[meant, 12:]]) + rng.normal(size=(n, 16)) * 0.5
    return rows.astype(np.float32), bold, meant
