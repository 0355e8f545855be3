"""Query strategies of the OCC paper: similarity change (CSD), entropy, loss-weighted sampling."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import entr

from likewise.errors import InvalidParameterError
from likewise.queries.base import FloatArray, Pool
from likewise.queries.pairwise import pair_products, similarities
from likewise.types import Indexes, Pairs


@dataclass(frozen=True)
class SimilarityChange:
    r"""Prefer similar pairs whose similarity changed in the last cycle (CSD).

    Notes
    -----
    With :math:`s_c` the similarity in cycle c,

    .. math:: \mathrm{score}(i, j) = s_c\, |s_c - s_{c-1}|

    [OCC]_, "Pairwise Query Strategy". *Fidelity:* a cycle is an epoch; the embeddings of the
    previous epoch are stored, (n, d), so that every pair can be scored, in any batch.
    Pairs whose score is not positive are never asked: among dissimilar pairs the product
    would prefer those that changed least.
    """

    compares_cycles: ClassVar[bool] = True

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score for each pair; ``-inf`` if it is not positive."""
        if pool.previous is None:
            raise InvalidParameterError(
                "Strategy 'csd' needs the embeddings of the previous cycle, got previous=None; "
                "train one more epoch before asking, or choose another strategy."
            )
        s = similarities(pool, pairs)
        before = pair_products(pool.previous, pairs[:, 0], pool.previous, pairs[:, 1])
        scores = s * np.abs(s - before)
        return np.where(scores > 0, scores, -np.inf)


@dataclass(frozen=True)
class Entropy:
    r"""Prefer the image of highest entropy with the partner of median similarity.

    Notes
    -----
    With :math:`H_i = -\sum_c p_{ic}\log p_{ic} / \log k` and :math:`r_{ij}` the number of i's
    candidate partners between j and the median of :math:`s_{i\cdot}`,

    .. math:: \mathrm{score}(i, j) = \max(\tfrac12 H_i - r_{ij},\; \tfrac12 H_j - r_{ji})

    so that each image is asked about once, the least certain first, before any image is asked
    about with its second partner. [OCC]_, "Query efficiency".

    *Fidelity:* the paper only says "medium similar"; the median is our interpretation.
    """

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score for each pair; positive for an image's partner of median similarity."""
        n_clusters = pool.probabilities.shape[1]
        entropies = entr(pool.probabilities).sum(axis=1) / np.log(max(n_clusters, 2))  # (n,)
        s = similarities(pool, pairs)
        owners = pairs.T.ravel()  # each pair twice, for each of its images
        ranks = _ranks_from_median(owners, np.concatenate([s, s]))
        by_owner = (entropies[owners] / 2 - ranks).reshape(2, -1)
        scores: FloatArray = np.maximum(by_owner[0], by_owner[1])
        return scores


def _ranks_from_median(owners: Indexes, values: FloatArray) -> Indexes:
    """Return the distance in ranks of each value from the median of its owner's values."""
    order = np.lexsort((values, owners))
    counts = np.bincount(owners, minlength=1)
    starts = np.cumsum(counts) - counts
    ranks = np.empty(len(owners), dtype=np.intp)
    ranks[order] = np.arange(len(owners))
    from_median: Indexes = np.abs(2 * (ranks - starts[owners]) - (counts[owners] - 1)) // 2
    return from_median  # 0 for the middle value, or for both middle values of an even count


@dataclass(frozen=True)
class SqrtLoss:
    r"""Sample pairs with :math:`p_z \propto l_z^{power}`, without replacement.

    Parameters
    ----------
    power : float
        1/2 minimises the bound :math:`D_p` of [OCC]_ Theorem 2, 1 the variance of the
        estimated risk; 0 is uniform.

    Notes
    -----
    The loss of a same-cluster pair is :math:`1 - s` ([OCC]_ Eq. 7). Before the answer it is
    not known which pairs these are, so the loss is weighted by the predicted probability:

    .. math:: l_{ij} = (1 - s_{ij}) \textstyle\sum_k p_{ik} p_{jk}

    *Fidelity:* Theorem 2 assumes the true losses; OCC itself asks by CSD.
    """

    power: float = 0.5
    is_drawn: ClassVar[bool] = True  # see `select`

    def __post_init__(self) -> None:
        if not self.power >= 0:
            raise InvalidParameterError(f"power must be >= 0, got {self.power}.")

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return the logarithm of each pair's sampling weight."""
        first, second = pairs.T
        p_same = (pool.probabilities[first] * pool.probabilities[second]).sum(axis=1)
        loss = np.maximum(1 - similarities(pool, pairs), 1e-12) * np.maximum(p_same, 1e-12)
        scores: FloatArray = self.power * np.log(loss)
        return scores
