"""Uncertainty sampling of pairs: by same-cluster probability, optionally with diversity."""

from dataclasses import dataclass

import numpy as np

from likewise.queries.base import FloatArray, Pool, best_first
from likewise.queries.pairwise import pair_products
from likewise.types import Indexes, Pairs


@dataclass(frozen=True)
class Uncertainty:
    r"""Prefer pairs whose same-cluster probability is near one half.

    Notes
    -----
    With :math:`p_i` the assignment probabilities of image :math:`i`,

    .. math:: \mathrm{score}(i, j) = 1 - |2\, p_i^\top p_j - 1|
    """

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score from 0 (certain) to 1 (probability one half) for each pair."""
        p_same = pair_products(pool.probabilities, pairs[:, 0], pool.probabilities, pairs[:, 1])
        return 1 - np.abs(2 * p_same - 1)


@dataclass(frozen=True)
class MarginDiversity:
    r"""Prefer, among the pairs of smallest margin, those far from one another.

    Parameters
    ----------
    shortlist : int
        Number of pairs of smallest margin that are ordered by diversity; the remaining pairs
        are ordered by margin alone.

    Notes
    -----
    The margin of a pair is :math:`|P(\text{same}) - P(\text{different})| = |2 p_i^\top p_j - 1|`.
    In the shortlist the smallest margin comes first, then always the pair that contains the
    image farthest from all images selected before (farthest-first traversal, as in core-set
    selection).
    """

    shortlist: int = 60

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score for each pair; above 1 for the shortlist."""
        scores = Uncertainty().score(pool, pairs)
        n_short = min(self.shortlist, len(pairs))
        if n_short:
            short = best_first(scores, n_short)
            order = _farthest_first(pool.embeddings[pairs[short]])
            scores[short[order]] = 2 - np.arange(n_short) / n_short
        return scores


def _farthest_first(images: FloatArray) -> Indexes:
    """Return a farthest-first order of the pairs ``(m, 2, d)`` that starts with pair 0."""
    order, is_left = [0], np.ones(len(images), dtype=bool)
    nearest = np.full(images.shape[:2], np.inf)  # distance of each image to those selected
    for _ in range(len(images) - 1):
        is_left[order[-1]] = False
        for selected in images[order[-1]]:
            np.minimum(nearest, np.linalg.norm(images - selected, axis=2), out=nearest)
        order.append(int(np.where(is_left, nearest.max(axis=1), -1).argmax()))
    return np.array(order)
