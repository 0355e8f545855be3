"""PCL's rule: first the uncertain pairs, towards the end of the budget the hard ones."""

from dataclasses import dataclass

from likewise.constraints.relation import Pairs
from likewise.queries.pool import Floats, Pool
from likewise.queries.s_hp import HardPairs
from likewise.queries.s_up import UncertainPairs


@dataclass(frozen=True)
class Joint:
    r"""Mix the scores of uncertain and of hard pairs by the share of budget left.

    Parameters
    ----------
    epsilon : float
        See `UncertainPairs`.
    hard : {"bernoulli", "eq7"}
        See `HardPairs`.

    Notes
    -----
    With r the share of the budget that is left,

    .. math:: S(i, j) = r\, S_{up}(i, j) + (1 - r)\, S_{hp}(i, j)

    [PCL]_ Eq. (8). Without a budget, as with the verbs start, ask and tell, r stays 1 and the
    score is that of `UncertainPairs`.
    """

    epsilon: float = 0.2
    hard: str = "bernoulli"

    def __post_init__(self) -> None:
        HardPairs(self.hard)  # a wrong name is refused now, not at the first question

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return one score for each pair, 0 to 1."""
        r = pool.remaining
        uncertain = UncertainPairs(self.epsilon).score(pool, pairs)
        if r == 1:
            return uncertain
        mixed: Floats = r * uncertain + (1 - r) * HardPairs(self.hard).score(pool, pairs)
        return mixed
