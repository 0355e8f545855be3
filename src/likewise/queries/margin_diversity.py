"""Ask about the smallest margins, and not about the same thing twice."""

from dataclasses import dataclass

import numpy as np

from likewise.constraints.relation import Indexes, Pairs
from likewise.queries.pool import Floats, Pool, best_first
from likewise.queries.uncertainty import Uncertainty


@dataclass(frozen=True)
class MarginDiversity:
    r"""Prefer, among the pairs of smallest margin, those far from one another.

    Parameters
    ----------
    shortlist : int
        How many pairs of smallest margin are put in order of diversity; beyond these the
        margin alone decides.

    Notes
    -----
    The margin of a pair is :math:`|P(\text{same}) - P(\text{different})| = |2 p_i^\top p_j - 1|`.
    Of the shortlist the smallest margin comes first, then always the pair that has the image
    farthest from all images already taken (farthest-first traversal, as in core-set selection).
    """

    shortlist: int = 60

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return one score for each pair; above 1 on the shortlist."""
        scores = Uncertainty().score(pool, pairs)
        n_short = min(self.shortlist, len(pairs))
        if n_short:
            short = best_first(scores, n_short)
            order = _farthest_first(pool.embeddings[pairs[short]])
            scores[short[order]] = 2 - np.arange(n_short) / n_short
        return scores


def _farthest_first(images: Floats) -> Indexes:
    """Return an order of the pairs ``(m, 2, d)`` that starts with the first."""
    order, is_left = [0], np.ones(len(images), dtype=bool)
    nearest = np.full(images.shape[:2], np.inf)  # of each image to those taken
    for _ in range(len(images) - 1):
        is_left[order[-1]] = False
        for taken in images[order[-1]]:
            np.minimum(nearest, np.linalg.norm(images - taken, axis=2), out=nearest)
        order.append(int(np.where(is_left, nearest.max(axis=1), -1).argmax()))
    return np.array(order)
