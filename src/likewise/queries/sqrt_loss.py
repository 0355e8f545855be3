"""Ask at random, but rather where the loss may be large: OCC's optimal sampling."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likewise.constraints.relation import Pairs
from likewise.errors import InvalidParameterError
from likewise.queries.pool import Floats, Pool
from likewise.queries.similarity import similarities


@dataclass(frozen=True)
class SqrtLoss:
    r"""Draw pairs with :math:`p_z \propto l_z^{power}`, without putting any back.

    Parameters
    ----------
    power : float
        1/2 minimises the bound :math:`D_p` of [OCC]_ Theorem 2, 1 the variance of the
        estimated risk; 0 is uniform.

    Notes
    -----
    The loss of a same-cluster pair is :math:`1 - s` ([OCC]_ Eq. 7). Before the answer nobody
    knows which pairs these are, so it is weighed by the model's belief that they are:

    .. math:: l_{ij} = (1 - s_{ij}) \textstyle\sum_k p_{ik} p_{jk}

    *Fidelity:* Theorem 2 knows the true losses; OCC itself asks by CSD.
    """

    power: float = 0.5
    is_drawn: ClassVar[bool] = True  # see `select`

    def __post_init__(self) -> None:
        if not self.power >= 0:
            raise InvalidParameterError(
                f"power={self.power} would prefer what is learned already; choose 0 or more."
            )

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return the logarithm of each pair's weight."""
        first, second = pairs.T
        belief = (pool.probabilities[first] * pool.probabilities[second]).sum(axis=1)
        loss = np.maximum(1 - similarities(pool, pairs), 1e-12) * np.maximum(belief, 1e-12)
        scores: Floats = self.power * np.log(loss)
        return scores
