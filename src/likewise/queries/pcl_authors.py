"""PCL's mixed score as the authors' public code computes it, with its known defects."""

from dataclasses import dataclass

import numpy as np

from likewise.errors import InvalidParameterError
from likewise.queries.base import FloatArray, Pool
from likewise.queries.candidates import all_pairs
from likewise.queries.pairwise import matrix_product
from likewise.queries.pcl import bernoulli_divergence, min_max
from likewise.types import Pairs

_MAX_IMAGES = 4096  # (n, n) matrices: for a batch, not for a collection


@dataclass(frozen=True)
class JointAuthors:
    r"""Score as PCL's public code does inside a batch; for comparison only.

    Parameters
    ----------
    epsilon : float
        See `UncertainPairs`.

    Notes
    -----
    With a and b the two views, :math:`\sigma` min-max scaling over *all* entries of the batch,

    .. math::
        S = \tanh \sigma[-|\bar s - \epsilon|]
            + (1-r)\, \sigma[-\mathrm{KL}(s^{aa} \Vert Q_1) - \mathrm{KL}(s^{aa} \Vert Q_2)]

    :math:`Q_1 = s^{ab} + A \odot s^{aa}`, and :math:`Q_2 = Q_1^\top + A \odot s^{aa}` since
    the first is changed in place. A is zero for an open pair, so answers change a candidate's
    score only through the range of the scaling; the least discrepant pairs win.

    *Fidelity:* reproduces the code, against Eq. (7) and (8). Without `Pool.views` both views
    are the embeddings, and the second term has no preference.
    """

    epsilon: float = 0.2

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score for each pair."""
        n = pool.constraints.n_images
        if n > _MAX_IMAGES:
            raise InvalidParameterError(
                f"Strategy 'joint-authors' needs batches of at most {_MAX_IMAGES} images, "
                f"got {n}; use smaller batches, or choose 'joint'."
            )
        a, b = pool.views or (pool.embeddings, pool.embeddings)
        s_aa = matrix_product(a, a)
        s_bar = (s_aa + matrix_product(b, b)) / 2
        answered = _relation_matrix(pool, n) * s_aa
        q_1 = matrix_product(a, b) + answered
        q_2 = q_1.T + answered
        hard = -bernoulli_divergence(s_aa, q_1) - bernoulli_divergence(s_aa, q_2)
        uncertain = np.tanh(min_max(-np.abs(s_bar - self.epsilon)))
        scores: FloatArray = uncertain + (1 - pool.remaining) * min_max(hard)
        return scores[pairs[:, 0], pairs[:, 1]].astype(float)


def _relation_matrix(pool: Pool, n: int) -> FloatArray:
    """Return the known relations of all pairs, shape (n, n)."""
    matrix = np.zeros((n, n))
    i, j = (pairs := all_pairs(np.arange(n))).T
    matrix[i, j] = matrix[j, i] = pool.constraints.pair_relations(pairs)
    return matrix
