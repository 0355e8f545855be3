"""Pairs as single numbers, so that a million of them are sorted and compared at once."""

import numpy as np

from likewise.constraints.relation import Indexes, Pairs


def encode(pairs: Pairs, n_images: int) -> Indexes:
    """Return one number for each pair, whichever way round it is given, (m,)."""
    first, second = pairs[:, 0], pairs[:, 1]
    return np.minimum(first, second) * n_images + np.maximum(first, second)


def decode(codes: Indexes, n_images: int) -> Pairs:
    """Return the sorted pair of each code, (m, 2)."""
    first = codes // n_images
    return np.stack([first, codes - first * n_images], axis=1)


def distinct(values: Indexes) -> Indexes:
    """Return each value once, in order; for a million, far faster than `numpy.unique`."""
    values = np.sort(values)
    is_new = np.ones(len(values), dtype=bool)
    is_new[1:] = values[1:] != values[:-1]
    return values[is_new]
