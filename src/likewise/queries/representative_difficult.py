"""DSAC's choice for pairs: the representative of each cluster first, then its difficult images."""

from dataclasses import dataclass

import numpy as np

from likewise.constraints.relation import Indexes, Pairs
from likewise.queries.codes import distinct
from likewise.queries.instances import CANDIDATES, check_candidates, compactness
from likewise.queries.links import known_groups
from likewise.queries.pool import Floats, Mask, Pool


@dataclass(frozen=True)
class RepresentativeDifficult:
    r"""Prefer the compact middle of a cluster without answers, then its compact outskirts.

    Parameters
    ----------
    n_candidates : int
        :math:`k_1`: among so many of the nearest to the centre, and of the farthest.

    Notes
    -----
    [DSAC]_ section III-B, see ``instances.py``. With :math:`r_i` the place of an image in its
    cluster (the representative 0, unless somebody answered about the cluster, then the
    difficult ones, then all others alike) and 0 for an answered image,

    .. math:: \mathrm{score}(i, j) = -(r_i + r_j)

    and pairs of two answered images come last.

    *Fidelity:* the paper labels single images; ours are pairs, of the candidates' images.
    """

    n_candidates: int = CANDIDATES

    def __post_init__(self) -> None:
        check_candidates(int(self.n_candidates))

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return one score for each pair; 0 is a representative."""
        is_linked = known_groups(pool.constraints).is_linked
        images = distinct(pairs.ravel())
        places = self._places(pool, images[~is_linked[images]], is_linked)
        i, j = pairs.T
        last = 2 * pool.constraints.n_images * (is_linked[i] & is_linked[j])
        scores: Floats = -places[i] - places[j] - last
        return scores

    def _places(self, pool: Pool, fresh: Indexes, is_linked: Mask) -> Floats:
        """Return the place of each fresh image in its cluster, 0 for all others, (n,)."""
        clusters = pool.probabilities.argmax(axis=1)
        distances = _distances(pool.embeddings, clusters, pool.probabilities.shape[1])
        places = np.zeros(len(clusters))
        places[fresh] = self.n_candidates + 1
        for cluster in np.unique(clusters[fresh]):
            mine = fresh[clusters[fresh] == cluster]
            is_new = not is_linked[clusters == cluster].any()
            outside = mine[_is_low(-distances[mine], int(self.n_candidates))]
            places[outside] = is_new + _ranks(compactness(pool.embeddings, of=outside))
            if is_new:
                inside = mine[_is_low(distances[mine], int(self.n_candidates))]
                places[inside[_ranks(compactness(pool.embeddings, of=inside)) == 0]] = 0
        return places


def _is_low(values: Floats, n: int) -> Mask:
    """Return which are among the `n` lowest; equal ones all or none, as ties are not ours."""
    low: Mask = values <= np.sort(values)[min(n, len(values)) - 1]
    return low


def _ranks(values: Floats) -> Floats:
    """Return for each value how many are higher."""
    ranks: Floats = np.searchsorted(np.sort(-values), -values).astype(float)
    return ranks


def _distances(rows: Floats, clusters: Indexes, k: int) -> Floats:
    """Return the squared distance of each image to the mean of its cluster, (n,)."""
    sums = np.zeros((k, rows.shape[1]))
    np.add.at(sums, clusters, rows)
    centres = sums / np.bincount(clusters, minlength=k).clip(1)[:, None]
    found: Floats = np.square(rows - centres[clusters]).sum(axis=1)
    return found
