"""What several strategies do to numbers: min-max scaling and Bernoulli divergence."""

import numpy as np

from likewise.queries.pool import Floats

TINY = 1e-3  # probabilities are kept this far from 0 and 1, the value of PCL's authors


def min_max(values: Floats) -> Floats:
    """Return the values scaled to [0, 1] over all of them; zeros where all are equal."""
    if not len(values):
        return values
    low, high = values.min(), values.max()
    if low == high:
        return np.zeros_like(values)
    scaled: Floats = (values - low) / (high - low)
    return scaled


def bernoulli_divergence(p: Floats, q: Floats) -> Floats:
    r"""Return :math:`p\log\frac pq + (1-p)\log\frac{1-p}{1-q}`, p and q kept from 0 and 1."""
    p, q = np.clip(p, TINY, 1 - TINY), np.clip(q, TINY, 1 - TINY)
    divergence: Floats = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    return divergence
