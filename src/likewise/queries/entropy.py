"""OCC's comparison rule: the least certain image, paired with a medium similar one."""

from dataclasses import dataclass

import numpy as np
from scipy.special import entr

from likewise.constraints.relation import Indexes, Pairs
from likewise.queries.pool import Floats, Pool
from likewise.queries.similarity import similarities


@dataclass(frozen=True)
class Entropy:
    r"""Prefer the image of highest entropy with the partner of median similarity.

    Notes
    -----
    With :math:`H_i = -\sum_c p_{ic}\log p_{ic} / \log k` and :math:`r_{ij}` how many of i's
    candidate partners lie between j and the median of :math:`s_{i\cdot}`,

    .. math:: \mathrm{score}(i, j) = \max(\tfrac12 H_i - r_{ij},\; \tfrac12 H_j - r_{ji})

    so that each image is asked about once, the least certain first, before any is asked
    about with its second most medium partner. [OCC]_, "Query efficiency".

    *Fidelity:* the paper says "medium similar" and no more; the median is our reading.
    """

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return one score for each pair; above 0 is some image's most medium partner."""
        n_clusters = pool.probabilities.shape[1]
        entropies = entr(pool.probabilities).sum(axis=1) / np.log(max(n_clusters, 2))  # (n,)
        s = similarities(pool, pairs)
        owners = pairs.T.ravel()  # each pair twice: once for each of its images
        ranks = _ranks_from_median(owners, np.concatenate([s, s]))
        by_owner = (entropies[owners] / 2 - ranks).reshape(2, -1)
        scores: Floats = np.maximum(by_owner[0], by_owner[1])
        return scores


def _ranks_from_median(owners: Indexes, values: Floats) -> Indexes:
    """Return how far each value lies from the median of its owner's, in ranks."""
    order = np.lexsort((values, owners))
    counts = np.bincount(owners, minlength=1)
    starts = np.cumsum(counts) - counts
    places = np.empty(len(owners), dtype=np.intp)
    places[order] = np.arange(len(owners))
    from_middle: Indexes = np.abs(2 * (places - starts[owners]) - (counts[owners] - 1)) // 2
    return from_middle  # 0 for the one in the middle, or for the two of an even number
