"""PCL's rule as its authors' code computes it, defects included: for comparison only."""

from dataclasses import dataclass

import numpy as np

from likewise.constraints.relation import Pairs
from likewise.errors import InvalidParameterError
from likewise.queries.candidates import all_pairs
from likewise.queries.pool import Floats, Pool
from likewise.queries.scores import bernoulli_divergence, min_max
from likewise.queries.similarity import all_products

_MAX_IMAGES = 4096  # (n, n) tables: a batch, not a collection


@dataclass(frozen=True)
class JointAuthors:
    r"""Score as PCL's public code does inside a batch.

    Parameters
    ----------
    epsilon : float
        See `UncertainPairs`.

    Notes
    -----
    With a and b the two views, :math:`\sigma` min-max scaling over *all* cells of the batch,

    .. math::
        S = \tanh \sigma[-|\bar s - \epsilon|]
            + (1-r)\, \sigma[-\mathrm{KL}(s^{aa} \Vert Q_1) - \mathrm{KL}(s^{aa} \Vert Q_2)]

    :math:`Q_1 = s^{ab} + A \odot s^{aa}`, and :math:`Q_2 = Q_1^\top + A \odot s^{aa}` since
    the first is changed in place. A is zero on an open pair, so answers move a candidate's
    score through the range of the scaling only; the least discrepant pairs win.

    *Fidelity:* parity with the code, against Eq. (7) and (8). Without `Pool.views` both views
    are the embeddings, and the second term prefers nothing.
    """

    epsilon: float = 0.2

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return one score for each pair."""
        n = pool.constraints.n_images
        if n > _MAX_IMAGES:
            raise InvalidParameterError(
                f"joint-authors scores all pairs of a batch at once, and there are {n} images; "
                f"give it batches of at most {_MAX_IMAGES}, or choose 'joint'."
            )
        a, b = pool.views or (pool.embeddings, pool.embeddings)
        s_aa = all_products(a, a)
        s_bar = (s_aa + all_products(b, b)) / 2
        answered = _answers(pool, n) * s_aa
        q_1 = all_products(a, b) + answered
        q_2 = q_1.T + answered
        hard = -bernoulli_divergence(s_aa, q_1) - bernoulli_divergence(s_aa, q_2)
        uncertain = np.tanh(min_max(-np.abs(s_bar - self.epsilon)))
        table: Floats = uncertain + (1 - pool.remaining) * min_max(hard)
        return table[pairs[:, 0], pairs[:, 1]].astype(float)


def _answers(pool: Pool, n: int) -> Floats:
    """Return the known relations of all pairs, (n, n)."""
    table = np.zeros((n, n))
    i, j = (pairs := all_pairs(np.arange(n))).T
    table[i, j] = table[j, i] = pool.constraints.pair_relations(pairs)
    return table
