"""PCL's hard pairs: ask where known relations contradict the similarity."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from likewise.constraints.relation import Pairs
from likewise.errors import UnknownNameError
from likewise.queries.links import known_links
from likewise.queries.pool import Floats, Pool
from likewise.queries.scores import TINY, bernoulli_divergence, min_max
from likewise.queries.similarity import similarities


@dataclass(frozen=True)
class HardPairs:
    r"""Prefer pairs whose linked neighbours say another thing than they do (S_hp).

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

    where q averages only over images with links, and a pair without any scores 0.

    *Fidelity:* Eq. (7) grows with the number of links, looks at one image of the pair only,
    and its single term can be negative for a large discrepancy; hence the second form. The
    authors' code negates the score and never lets an answer reach an open pair; see
    ``joint_authors.py``.
    """

    hard: str = "bernoulli"

    def __post_init__(self) -> None:
        if self.hard not in _HARD:
            raise UnknownNameError("hard score", self.hard, _HARD)

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return one score for each pair, 0 to 1."""
        return min_max(_HARD[self.hard](pool, pairs))


def _bernoulli(pool: Pool, pairs: Pairs) -> Floats:
    i, j = pairs.T
    links = known_links(pool.constraints, pool.embeddings)
    n_linked = (links.degrees[i] > 0) + (links.degrees[j] > 0).astype(int)
    by_second = links.pull(i, j) / links.degrees[j].clip(min=1)
    by_first = links.pull(j, i) / links.degrees[i].clip(min=1)
    q = (by_second + by_first) / n_linked.clip(min=1)
    divergence = bernoulli_divergence((1 + similarities(pool, pairs)) / 2, (1 + q) / 2)
    return np.where(n_linked > 0, divergence, 0)


def _eq7(pool: Pool, pairs: Pairs) -> Floats:
    i, j = pairs.T
    links = known_links(pool.constraints, pool.embeddings)
    p = min_max(similarities(pool, pairs)).clip(min=TINY)
    q = min_max(links.pull(i, j)).clip(min=TINY)
    divergence: Floats = p * np.log(p / q)
    return divergence


_HARD: dict[str, Callable[[Pool, Pairs], Floats]] = {"bernoulli": _bernoulli, "eq7": _eq7}
