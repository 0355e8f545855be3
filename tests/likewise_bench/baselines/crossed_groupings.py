"""Vectors with two crossed groupings: a dominant one, and the one that the answers mean."""

import numpy as np

from likewise.estimators.params import NetworkConfig
from likewise.random_streams import stream
from likewise.types import Floats, Indexes

SMALL = NetworkConfig(n_features=32, n_hidden=32, n_projection=16)


def crossed_groupings(n: int = 160) -> tuple[Floats, Indexes, Indexes]:
    """Return vectors, the grouping of three quarters of the columns, and that of the rest."""
    rng = stream(0, "crossed")
    dominant, target = rng.integers(2, size=(2, n))
    means = rng.normal(size=(2, 16)) * 2
    rows = np.hstack([means[dominant, :12], means[target, 12:]])
    rows = rows + rng.normal(size=(n, 16)) * 0.5
    return rows.astype(np.float32), dominant, target
