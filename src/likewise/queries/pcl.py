"""PCL's query strategies: uncertain pairs (S_up), hard pairs (S_hp), and mixtures of them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.queries.base import FloatArray, Pool
from likewise.queries.pairwise import answer_components, relation_sums, similarities
from likewise.types import Pairs

TINY = 1e-3  # probabilities are clipped to [TINY, 1 - TINY], the value of PCL's authors


@dataclass(frozen=True)
class UncertainPairs:
    r"""Prefer pairs whose similarity is near `epsilon` (S_up).

    Parameters
    ----------
    epsilon : float
        Slightly above 0, since "same" is more informative than "different".

    Notes
    -----
    With :math:`\sigma` min-max scaling over the candidates,

    .. math:: S_{up}(i, j) = \sigma[-|s_{ij} - \epsilon|]

    [PCL]_ Eq. (6).
    """

    epsilon: float = 0.2

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score from 0 to 1 for each pair."""
        return min_max(-np.abs(similarities(pool, pairs) - self.epsilon))


@dataclass(frozen=True)
class HardPairs:
    r"""Prefer pairs whose similarity contradicts the known relations of the two images (S_hp).

    Parameters
    ----------
    hard : {"bernoulli", "eq7"}
        The recommended score, or the equation as printed.

    Notes
    -----
    ``eq7``, with :math:`\sigma` min-max scaling over the candidates and A the known relations,

    .. math::
        P_{ij} = \sigma[s_{ij}], \quad Q_{ij} = \sigma\big[\textstyle\sum_k A_{jk} s_{ik}\big],
        \quad S_{hp} = \sigma\big[P_{ij} \log \tfrac{P_{ij}}{Q_{ij}}\big]

    [PCL]_ Eq. (7). ``bernoulli``, with :math:`\hat A_{jk} = A_{jk} / \sum_k |A_{jk}|`,

    .. math::
        q = \tfrac12 (S \hat A^\top + \hat A S^\top), \quad
        S_{hp} = \sigma\big[\mathrm{KL}(\tfrac{1+s}2 \Vert \tfrac{1+q}2)\big]

    where q averages only over images with links, and a pair without links scores 0.

    *Fidelity:* Eq. (7) grows with the number of links, uses only one image of the pair, and
    its single term can be negative for a large discrepancy; hence the second form. The
    authors' code negates the score, and an answer never changes the score of an open pair;
    see `likewise_bench.baselines.pcl_authors`.
    """

    hard: str = "bernoulli"

    def __post_init__(self) -> None:
        if self.hard not in _HARD_SCORES:
            raise UnknownNameError("hard score", self.hard, _HARD_SCORES)

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score from 0 to 1 for each pair."""
        return min_max(_HARD_SCORES[self.hard](pool, pairs))


@dataclass(frozen=True)
class Joint:
    r"""Mix the scores of uncertain and hard pairs by the remaining fraction of the budget.

    Parameters
    ----------
    epsilon : float
        See `UncertainPairs`.
    hard : {"bernoulli", "eq7"}
        See `HardPairs`.

    Notes
    -----
    With r the remaining fraction of the budget,

    .. math:: S(i, j) = r\, S_{up}(i, j) + (1 - r)\, S_{hp}(i, j)

    [PCL]_ Eq. (8). Without a budget, as with start, ask and tell, r stays 1 and the score is
    that of `UncertainPairs`.
    """

    epsilon: float = 0.2
    hard: str = "bernoulli"

    def __post_init__(self) -> None:
        HardPairs(self.hard)  # raises for an unknown name

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score from 0 to 1 for each pair."""
        r = pool.remaining
        uncertain = UncertainPairs(self.epsilon).score(pool, pairs)
        if r == 1:
            return uncertain
        mixed: FloatArray = r * uncertain + (1 - r) * HardPairs(self.hard).score(pool, pairs)
        return mixed


@dataclass(frozen=True)
class ConnectedJoint:
    r"""`Joint`, which also prefers pairs whose answer connects two components of the answers.

    Parameters
    ----------
    connect : float
        Weight of that preference; 0 is `Joint`.
    epsilon, hard
        See `Joint`.

    Notes
    -----
    With :math:`n_i` the number of images that a chain of answers connects to i, itself included,

    .. math:: S(i, j) + \beta\, \sigma[\log (n_i n_j)]

    and 0 instead of :math:`\log (n_i n_j)` for two images of one component. A relation to a
    large component implies relations to many images, while the uncertain pairs of a batch are
    spread over many small components.

    Fidelity: ours, not of [PCL]_.
    """

    connect: float = 0.5
    epsilon: float = 0.2
    hard: str = "bernoulli"

    def __post_init__(self) -> None:
        HardPairs(self.hard)  # raises for an unknown name
        if not self.connect >= 0:
            raise InvalidParameterError(f"connect must be >= 0, got {self.connect}.")

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score from 0 to 1 + `connect` for each pair."""
        component, sizes = answer_components(pool.constraints)
        first, second = component[pairs[:, 0]], component[pairs[:, 1]]
        joined = np.where(first == second, 0.0, np.log(sizes[first] * sizes[second]))
        joint = Joint(self.epsilon, self.hard).score(pool, pairs)
        scores: FloatArray = joint + self.connect * min_max(joined)
        return scores


def min_max(values: FloatArray) -> FloatArray:
    """Return the values scaled to [0, 1]; zeros if all are equal."""
    if not len(values):
        return values
    low, high = values.min(), values.max()
    if low == high:
        return np.zeros_like(values)
    scaled: FloatArray = (values - low) / (high - low)
    return scaled


def bernoulli_divergence(p: FloatArray, q: FloatArray) -> FloatArray:
    r"""Return :math:`p\log\frac pq + (1-p)\log\frac{1-p}{1-q}`, with p and q clipped by `TINY`."""
    p, q = np.clip(p, TINY, 1 - TINY), np.clip(q, TINY, 1 - TINY)
    divergence: FloatArray = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    return divergence


def _bernoulli(pool: Pool, pairs: Pairs) -> FloatArray:
    i, j = pairs.T
    sums = relation_sums(pool.constraints, pool.embeddings)
    n_linked = (sums.degrees[i] > 0) + (sums.degrees[j] > 0).astype(int)
    by_second = sums.weighted_similarity(i, j) / sums.degrees[j].clip(min=1)
    by_first = sums.weighted_similarity(j, i) / sums.degrees[i].clip(min=1)
    q = (by_second + by_first) / n_linked.clip(min=1)
    divergence = bernoulli_divergence((1 + similarities(pool, pairs)) / 2, (1 + q) / 2)
    return np.where(n_linked > 0, divergence, 0)


def _eq7(pool: Pool, pairs: Pairs) -> FloatArray:
    i, j = pairs.T
    sums = relation_sums(pool.constraints, pool.embeddings)
    p = min_max(similarities(pool, pairs)).clip(min=TINY)
    q = min_max(sums.weighted_similarity(i, j)).clip(min=TINY)
    divergence: FloatArray = p * np.log(p / q)
    return divergence


_HARD_SCORES: dict[str, Callable[[Pool, Pairs], FloatArray]] = {
    "bernoulli": _bernoulli,
    "eq7": _eq7,
}
