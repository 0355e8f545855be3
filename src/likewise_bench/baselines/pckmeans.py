"""PCKMeans: k-means with a penalty for each violated constraint."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relations
from likewise.estimators.data import Data
from likewise.estimators.parts import Learner, Questioner
from likewise.estimators.questioners import Candidates, PairQuestioner
from likewise.queries.base import QueryStrategy
from likewise.random_streams import stream
from likewise.types import Floats, Indexes
from likewise_bench.baselines.constrained_kmeans import (
    ConstrainedGroups,
    constrained_groups,
    kmeans_plusplus,
    squared_distances,
    updated_centres,
)
from likewise_bench.baselines.partition_learner import PartitionBaseline, PartitionLearner

_MAX_ITERATIONS = 50


@dataclass(eq=False, repr=False, kw_only=True)
class PCKMeans(PartitionBaseline):
    r"""K-means whose cost counts violated constraints, initialised from must-link groups.

    Parameters
    ----------
    n_clusters : int
    weight : float
        Cost w of a violated constraint, in units of the mean squared distance of an image from
        the mean of all images.
    n_init : int
        Starts; the cheapest is kept.
    strategy : str or QueryStrategy
        How pairs are selected.
    candidates : {"random", "anchored", "anchored-wide"}
        The pairs to select from.
    encoder : str or Encoder
        Embeds images.
    random_state : int, optional

    Notes
    -----
    S. Basu, A. Banerjee, R. Mooney: *Active semi-supervision for pairwise constrained
    clustering*. SDM 2004. The cost is

    .. math:: \tfrac12 \sum_i \|x_i - \mu_{l_i}\|^2
              + \sum_{(i,j) \in M} w [l_i \ne l_j] + \sum_{(i,j) \in C} w [l_i = l_j].

    Centres begin at the means of the neighbourhoods (must-link groups), the largest that are far
    apart first; if there are fewer of them than clusters, the others are drawn by k-means++.
    Then alternately every image joins its cheapest cluster given all others, in random order, and
    every centre moves to its mean.

    Choices. M and C include implied constraints, as the paper's neighbourhoods do; each counts
    once. w is relative to the data, since the paper's w = 1 depends on the scale of the columns.
    Every second start has k-means++ centres only, since groups of two images are poor centres;
    the cheapest start is kept. Instead of the paper's own questions (explore, then consolidate)
    it uses the query strategies of this project, random pairs by default, like all baselines that
    ask about pairs.

    Published property: with answers it beats plain k-means, also on images in none of them.
    """

    weight: float = 1.0
    n_init: int = 10
    strategy: str | QueryStrategy = "random"
    candidates: Candidates = "random"

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        partition = partial(pckmeans_clusters, weight=s.weight, n_init=s.n_init)
        return PartitionLearner(partition), PairQuestioner(s.strategy, s.candidates)


def pckmeans_clusters(
    rows: Floats,
    n_clusters: int,
    constraints: ConstraintGraph,
    seed: int,
    *,
    weight: float,
    n_init: int,
) -> Indexes:
    """Return the clusters of the cheapest of `n_init` starts."""
    groups = constrained_groups(constraints)
    relations = constraints.relations(groups.images)
    absolute_weight = weight * float(rows.var(axis=0).sum())
    means = neighbourhood_means(rows, groups, n_clusters)
    runs = []
    for start in range(n_init):
        rng = stream(seed, "pckmeans", start)
        centres = kmeans_plusplus(rows, n_clusters, rng, rows[:0] if start % 2 else means)
        runs.append(pckmeans(rows, centres, groups, relations, absolute_weight, rng))
    return min(runs, key=lambda run: run[1])[0]


def pckmeans(
    rows: Floats,
    centres: Floats,
    groups: ConstrainedGroups,
    relations: Relations,
    weight: float,
    rng: np.random.Generator,
) -> tuple[Indexes, float]:
    """Return the clusters of one start and their cost.

    Parameters
    ----------
    rows : array of shape (n, d)
    centres : array of shape (k, d)
        The initial centres.
    groups : ConstrainedGroups
    relations : array of shape (m, m)
        Between the images of `groups`: +1 must-link, -1 cannot-link, 0 unknown.
    weight : float
        Cost of a violated constraint, in squared units of `rows`.
    rng : numpy.random.Generator
    """
    clusters = squared_distances(rows, centres).argmin(axis=1)
    cost = np.inf
    for _ in range(_MAX_ITERATIONS):
        half = (squared_distances(rows, centres) / 2).astype(np.float32)
        clusters = half.argmin(axis=1)
        clusters[groups.images] = _pck_assign(half[groups.images], relations, weight, rng)
        before, cost = cost, pckmeans_cost(half, clusters, groups, relations, weight)
        centres = updated_centres(rows, clusters, centres)
        if cost >= before:
            break
    return clusters, cost


def _pck_assign(
    half: Floats, relations: Relations, weight: float, rng: np.random.Generator
) -> Indexes:
    """Return the cluster of each constrained image, chosen one by one given all the others."""
    n, k = half.shape
    chosen: Indexes = half.argmin(axis=1)
    is_in = np.zeros((n, k), dtype=np.float32)
    is_in[np.arange(n), chosen] = 1
    discount = relations.astype(np.float32) * weight  # must-link: minus w; cannot-link: plus w
    for _ in range(3):
        for i in rng.permutation(n).tolist():
            choice = int((half[i] - discount[i] @ is_in).argmin())
            is_in[i, chosen[i]], is_in[i, choice], chosen[i] = 0, 1, choice
    return chosen


def pckmeans_cost(
    half: Floats,
    clusters: Indexes,
    groups: ConstrainedGroups,
    relations: Relations,
    weight: float,
) -> float:
    """Return half the squared distances, plus `weight` for each violated constraint."""
    own = clusters[groups.images]
    together = own[:, None] == own[None, :]
    n_violated = ((relations > 0) & ~together).sum() + ((relations < 0) & together).sum()
    distances = half[np.arange(len(half)), clusters].sum(dtype=np.float64)
    return float(distances + weight * n_violated / 2)


def neighbourhood_means(rows: Floats, groups: ConstrainedGroups, n: int) -> Floats:
    """Return the means of at most `n` must-link groups: the largest, then far and large ones."""
    if not len(groups.images):
        return rows[:0]
    sizes = groups.sizes
    means = (groups.sums(rows) / sizes[:, None]).astype(np.float32)
    large = np.flatnonzero(sizes > 1) if (sizes > 1).any() else np.arange(len(sizes))
    chosen = [int(large[sizes[large].argmax()])]
    nearest = squared_distances(means, means[chosen])[:, 0] * sizes
    while len(chosen) < min(n, len(large)):
        nearest[chosen] = -1
        chosen.append(int(large[nearest[large].argmax()]))
        nearest = np.minimum(nearest, squared_distances(means, means[chosen[-1:]])[:, 0] * sizes)
    return means[chosen]
