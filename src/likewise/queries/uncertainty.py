"""Ask where the model tosses a coin."""

from dataclasses import dataclass

import numpy as np

from likewise.constraints.relation import Pairs
from likewise.queries.pool import Floats, Pool
from likewise.queries.similarity import products


@dataclass(frozen=True)
class Uncertainty:
    r"""Prefer pairs whose same-cluster probability is near one half.

    Notes
    -----
    With :math:`p_i` the assignment probabilities of image :math:`i`,

    .. math:: \mathrm{score}(i, j) = 1 - |2\, p_i^\top p_j - 1|
    """

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return one score for each pair; 1 is a coin toss, 0 a certainty."""
        p_same = products(pool.probabilities, pairs[:, 0], pool.probabilities, pairs[:, 1])
        return 1 - np.abs(2 * p_same - 1)
