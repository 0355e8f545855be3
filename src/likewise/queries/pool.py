"""What a strategy may look at, and how scores become questions."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.relation import Pairs
from likewise.errors import PoolExhaustedError

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Pool:
    """The state of the work at one moment, as a strategy sees it; no labels in it.

    Parameters
    ----------
    embeddings : array of shape (n, d)
        Unit rows.
    probabilities : array of shape (n, k)
        Soft assignments; rows sum to one.
    constraints : ConstraintGraph
    previous : array of shape (n, d), optional
        The embeddings one cycle earlier, for strategies that look at change.
    remaining : float
        Share of the budget that is left, 1 at the start: the papers' ``r``.
    passed : frozenset of pairs
        Pairs that were answered "can't tell" of late; not to be asked again soon.
    """

    embeddings: Floats
    probabilities: Floats
    constraints: ConstraintGraph
    previous: Floats | None = None
    remaining: float = 1.0
    passed: frozenset[tuple[int, int]] = field(default_factory=frozenset)


class QueryStrategy(Protocol):
    """A strategy only scores; `select` alone knows what is open and how ties fall."""

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return one score for each pair ``(m, 2)``; the highest is asked first.

        ``-inf`` means: never ask this one.
        """


def select(
    strategy: QueryStrategy, pool: Pool, candidates: Pairs, n: int, rng: np.random.Generator
) -> Pairs:
    """Return the `n` best pairs whose relation does not already follow.

    Ties are broken by `rng`, never by position.

    Raises
    ------
    PoolExhaustedError
        If fewer than `n` candidate pairs are still open.
    """
    is_open = pool.constraints.pair_relations(candidates) == 0
    if pool.passed:
        is_open &= np.array([(int(i), int(j)) not in pool.passed for i, j in candidates], dtype=bool)
    pairs = rng.permutation(candidates[is_open])
    scores = strategy.score(pool, pairs)
    pairs, scores = pairs[scores > -np.inf], scores[scores > -np.inf]
    if len(pairs) < n:
        raise PoolExhaustedError(
            f"{n} questions were asked for but only {len(pairs)} of {len(candidates)} candidate "
            "pairs are still open; ask for fewer, or draw more candidates."
        )
    best_first = np.argsort(-scores, kind="stable")
    return pairs[best_first[:n]]
