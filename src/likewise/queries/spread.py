"""Images far from one another, to start from when nothing is known."""

import numpy as np

from likewise.constraints.relation import Indexes
from likewise.queries.pool import Floats


def spread(embeddings: Floats, n: int, rng: np.random.Generator) -> Indexes:
    """Return `n` distinct images, spread as k-means++ draws its centres.

    The first is drawn at random, each next one with a probability in proportion to its squared
    distance to those drawn; copies of these only when nothing else is left.
    """
    n = min(n, len(embeddings))
    drawn = np.zeros(n, dtype=np.intp)
    nearest = np.full(len(embeddings), np.inf)
    is_left = np.ones(len(embeddings), dtype=bool)
    for place in range(n):
        chances = np.where(is_left & np.isfinite(nearest), nearest, 0.0)
        if chances.sum() <= 0:
            chances = is_left.astype(float)
        drawn[place] = rng.choice(len(embeddings), p=chances / chances.sum())
        is_left[drawn[place]] = False
        away = embeddings - embeddings[drawn[place]]
        nearest = np.minimum(nearest, np.einsum("nd,nd->n", away, away))
    return drawn
