"""PCL's uncertainty of pairs: ask where the similarity says neither same nor different."""

from dataclasses import dataclass

import numpy as np

from likewise.constraints.relation import Pairs
from likewise.queries.pool import Floats, Pool
from likewise.queries.scores import min_max
from likewise.queries.similarity import similarities


@dataclass(frozen=True)
class UncertainPairs:
    r"""Prefer pairs whose similarity is near `epsilon` (S_up).

    Parameters
    ----------
    epsilon : float
        A little above 0, since "same" says more than "different".

    Notes
    -----
    With :math:`\sigma` min-max scaling over the candidates,

    .. math:: S_{up}(i, j) = \sigma[-|s_{ij} - \epsilon|]

    [PCL]_ Eq. (6).
    """

    epsilon: float = 0.2

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return one score for each pair, 0 to 1."""
        return min_max(-np.abs(similarities(pool, pairs) - self.epsilon))
