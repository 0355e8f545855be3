"""Ask at random: the rule every other one has to beat."""

from dataclasses import dataclass

import numpy as np

from likewise.constraints.relation import Pairs
from likewise.queries.pool import Floats, Pool


@dataclass(frozen=True)
class Random:
    """Prefer nothing: all pairs tie, and `select` breaks ties by its generator.

    Notes
    -----
    Uniform over the open candidate pairs. *Fidelity:* PCL's authors draw from the answered
    cells and the diagonal instead, spending answers on what is known; not repeated here.
    """

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return zero for each pair."""
        return np.zeros(len(pairs))
