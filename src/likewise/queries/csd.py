"""OCC's rule: ask about similar pairs whose similarity still moves."""

from dataclasses import dataclass

import numpy as np

from likewise.constraints.relation import Pairs
from likewise.errors import InvalidParameterError
from likewise.queries.pool import Floats, Pool
from likewise.queries.similarity import products, similarities


@dataclass(frozen=True)
class SimilarityChange:
    r"""Prefer pairs that are similar and whose similarity changed in the last cycle (CSD).

    Notes
    -----
    With :math:`s_c` the similarity in cycle c,

    .. math:: \mathrm{score}(i, j) = s_c\, |s_c - s_{c-1}|

    [OCC]_, "Pairwise Query Strategy". *Fidelity:* a cycle is an epoch; the embeddings of the last
    one are remembered, (n, d), so that every pair can be scored whatever the batches. A score that
    is not positive is never asked: of dissimilar pairs the product would prefer the stillest.
    """

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return one score for each pair; ``-inf`` where it is not positive."""
        if pool.previous is None:
            raise InvalidParameterError(
                "csd compares similarities with those one cycle earlier, and previous=None; "
                "train one more epoch before asking, or choose another strategy."
            )
        s = similarities(pool, pairs)
        before = products(pool.previous, pairs[:, 0], pool.previous, pairs[:, 1])
        scores = s * np.abs(s - before)
        return np.where(scores > 0, scores, -np.inf)
