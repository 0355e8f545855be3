"""TypiClust: ask about the densest point of each cluster."""

from dataclasses import dataclass

import numpy as np

from likewise.constraints.relation import Indexes, Pairs
from likewise.queries.codes import distinct
from likewise.queries.links import known_groups
from likewise.queries.neighbours import neighbour_distances
from likewise.queries.pool import Floats, Pool

_MAX_NEIGHBOURHOOD = 4096  # images of a cluster that density is measured against


@dataclass(frozen=True)
class Typical:
    r"""Prefer images that are the densest point of their cluster and still unanswered.

    Parameters
    ----------
    n_neighbours : int
        How many neighbours density is measured by.

    Notes
    -----
    The typicality of an image is :math:`1 / \overline{\lVert z_i - z_j \rVert}` over its nearest
    neighbours in its cluster, [TYPICLUST]_. With :math:`r_i` its place in the cluster
    (0 the densest) among the candidates' images without an answer, 0 for an answered image,

    .. math:: \mathrm{score}(i, j) = -(r_i + r_j)

    and pairs of two answered images come last, since they cover nothing new.

    *Fidelity:* the paper labels single images and clusters anew for each; ours are pairs in
    the model's clusters. Density in a large cluster is measured against every r-th image.
    """

    n_neighbours: int = 20

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return one score for each pair; 0 is the densest point of a cluster."""
        is_linked = known_groups(pool.constraints).is_linked
        images = distinct(pairs.ravel())
        places = self._places(pool, images[~is_linked[images]])
        i, j = pairs.T
        last = 2 * pool.constraints.n_images * (is_linked[i] & is_linked[j])
        scores: Floats = -places[i] - places[j] - last
        return scores

    def _places(self, pool: Pool, fresh: Indexes) -> Floats:
        """Return the place of each fresh image in its cluster, 0 for all others, (n,)."""
        places = np.zeros(pool.constraints.n_images)
        clusters = pool.probabilities.argmax(axis=1)
        for cluster in np.unique(clusters[fresh]):
            members = np.flatnonzero(clusters == cluster)
            among = members[:: -(-len(members) // _MAX_NEIGHBOURHOOD)]
            mine = fresh[clusters[fresh] == cluster]
            distances = neighbour_distances(pool.embeddings, mine, among, self.n_neighbours)
            places[mine] = np.searchsorted(np.sort(distances), distances)  # equal ones tie
        return places
