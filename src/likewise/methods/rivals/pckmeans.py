"""PCKMeans: k-means that pays for every answer it breaks."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from likewise.constraints.question import Relations
from likewise.methods.base import Floats
from likewise.methods.rivals.constrained import (
    Bound,
    bound_images,
    moved,
    spread_centres,
    squared,
)
from likewise.methods.rivals.rows import Indexes, RowsRival
from likewise.methods.shared_parameters import PairParameters, VectorParameters

_MAX_STEPS = 50


@dataclass(eq=False, repr=False)
class PCKMeans(PairParameters, VectorParameters, RowsRival):
    r"""K-means whose cost counts broken answers, started from what answers tie together.

    Parameters
    ----------
    n_clusters : int
    weight : float
        Cost w of a broken answer; the unit is the mean squared distance of an image from the mean
        of all images.
    n_init : int
        Starts; the cheapest is kept.
    strategy : str or QueryStrategy
        How pairs are chosen.
    candidates : {"random", "anchored", "anchored-wide"}
        Which pairs are considered.
    encoder : str or Encoder
        How pictures become vectors.
    random_state : int, optional

    Notes
    -----
    S. Basu, A. Banerjee, R. Mooney: *Active semi-supervision for pairwise constrained
    clustering*. SDM 2004. The cost is

    .. math:: \tfrac12 \sum_i \|x_i - \mu_{l_i}\|^2
              + \sum_{(i,j) \in M} w [l_i \ne l_j] + \sum_{(i,j) \in C} w [l_i = l_j].

    Centres start at the means of the neighbourhoods (images tied by "same"), the largest that
    lie far apart first; where there are fewer of them than clusters, at images far from these.
    Then, in turn: every image takes its cheapest cluster given all others, in random order;
    every centre moves to its mean.

    Choices. M and C hold what follows from the answers, too, as the paper's neighbourhoods do;
    each counts once. w is relative to the data, since the paper's w = 1 depends on the scale of
    the columns. Every second start has k-means++ centres instead, since neighbourhoods of two
    images are poor centres; the cheapest start wins. The paper's own questions (explore, then
    consolidate) are the strategies of this project instead, random pairs by default, so that all
    rivals that take pairs ask alike.

    Published property: with answers it beats plain k-means, also on images in none of them.
    """

    n_clusters: int = 8
    _: KW_ONLY
    weight: float = 1.0
    n_init: int = 10

    def _group(self, rows: Floats) -> Indexes:
        bound = bound_images(self.constraints_)
        relations = self.constraints_.relations(bound.images)
        weight = self._settings.weight * float(rows.var(axis=0).sum())
        known = _neighbourhoods(rows, bound, self._n_clusters)
        found = []
        for start in range(self._settings.n_init):
            rng = self._rng("pckmeans", start)
            centres = spread_centres(rows, self._n_clusters, rng, rows[:0] if start % 2 else known)
            found.append(pckmeans(rows, centres, bound, relations, weight, rng))
        return min(found, key=lambda attempt: attempt[1])[0]


def pckmeans(
    rows: Floats,
    centres: Floats,
    bound: Bound,
    relations: Relations,
    weight: float,
    rng: np.random.Generator,
) -> tuple[Indexes, float]:
    """Return the clusters of one start and their cost.

    Parameters
    ----------
    rows : array of shape (n, d)
    centres : array of shape (k, d)
        Where it begins.
    bound : Bound
    relations : array of shape (m, m)
        Of the bound images.
    weight : float
        In squared units of `rows`.
    rng : numpy.random.Generator
    """
    clusters = squared(rows, centres).argmin(axis=1)
    cost = np.inf
    for _ in range(_MAX_STEPS):
        half = (squared(rows, centres) / 2).astype(np.float32)
        clusters = half.argmin(axis=1)
        some = half[bound.images]
        clusters[bound.images] = _cheapest(some, relations, weight, rng)
        before, cost = cost, _cost(half, clusters, bound, relations, weight)
        centres = moved(rows, clusters, centres)
        if cost >= before:
            break
    return clusters, cost


def _neighbourhoods(rows: Floats, bound: Bound, n: int) -> Floats:
    """Return the means of at most `n` neighbourhoods: the largest, then far and large ones."""
    if not len(bound.images):
        return rows[:0]
    sizes = bound.sizes
    middles = (bound.sums(rows) / sizes[:, None]).astype(np.float32)
    large = np.flatnonzero(sizes > 1) if (sizes > 1).any() else np.arange(len(sizes))
    chosen = [int(large[sizes[large].argmax()])]
    nearest = squared(middles, middles[chosen])[:, 0] * sizes
    while len(chosen) < min(n, len(large)):
        nearest[chosen] = -1
        chosen.append(int(large[nearest[large].argmax()]))
        nearest = np.minimum(nearest, squared(middles, middles[chosen[-1:]])[:, 0] * sizes)
    return middles[chosen]


def _cheapest(
    half: Floats, relations: Relations, weight: float, rng: np.random.Generator
) -> Indexes:
    """Return the cluster of each bound image, chosen one by one given all the others."""
    n, k = half.shape
    chosen: Indexes = half.argmin(axis=1)
    is_in = np.zeros((n, k), dtype=np.float32)
    is_in[np.arange(n), chosen] = 1
    pull = relations.astype(np.float32) * weight  # same: cheaper by w; different: dearer
    for _ in range(3):
        for i in rng.permutation(n).tolist():
            choice = int((half[i] - pull[i] @ is_in).argmin())
            is_in[i, chosen[i]], is_in[i, choice], chosen[i] = 0, 1, choice
    return chosen


def _cost(
    half: Floats, clusters: Indexes, bound: Bound, relations: Relations, weight: float
) -> float:
    own = clusters[bound.images]
    together = own[:, None] == own[None, :]
    n_broken = ((relations > 0) & ~together).sum() + ((relations < 0) & together).sum()
    distances = half[np.arange(len(half)), clusters].sum(dtype=np.float64)
    return float(distances + weight * n_broken / 2)
