"""COP-KMeans: k-means that violates no constraint, or reports that it failed."""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import LikewiseWarning
from likewise.estimators.data import Data
from likewise.estimators.pair_questioner import Candidates, PairQuestioner
from likewise.estimators.parts import Learner, Questioner
from likewise.queries.base import QueryStrategy
from likewise.random_streams import stream
from likewise.types import Floats, Indexes
from likewise_bench.baselines.constrained_groups import (
    ConstrainedGroups,
    constrained_groups,
    kmeans_plusplus,
    squared_distances,
    updated_centres,
)
from likewise_bench.baselines.partition_learner import PartitionBaseline, PartitionLearner

_MAX_ITERATIONS = 50


@dataclass(eq=False, repr=False, kw_only=True)
class CopKMeans(PartitionBaseline):
    r"""K-means in which no image joins a cluster that a constraint forbids.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        Starts, each with other centres and another order of the images; the best that violates no
        constraint is kept.
    strategy : str or QueryStrategy
        How pairs are selected.
    candidates : {"random", "anchored", "anchored-wide"}
        The pairs to select from.
    encoder : str or Encoder
        Embeds images.
    random_state : int, optional

    Attributes
    ----------
    is_satisfied_ : bool
        Whether clusters were found that violate no constraint. If not, a warning was given.

    Notes
    -----
    K. Wagstaff, C. Cardie, S. Rogers, S. Schrödl: *Constrained k-means clustering with
    background knowledge*. ICML 2001. In every iteration each image joins the nearest cluster
    that contains no image it has a cannot-link to; must-linked images join together. If every
    cluster is forbidden for an image, the start has failed.

    Choices. Must-linked images are assigned as one, which is the paper's rule applied to the
    transitive closure that its section 3 asks for. The order in which images are assigned is not
    given in the paper and decides success, since the assignment is greedy: half of our starts use
    a random order, half begin with the groups that have most cannot-links. The questions are
    pairs of any strategy; the paper draws them at random.

    *Fidelity:* the paper returns nothing when it fails. Here an image for which every cluster is
    forbidden joins the nearest, `is_satisfied_` is False, and a warning gives the number of such
    groups in the best start; `labels_` satisfies all answers, as for every method.

    Published property: no constraint is violated, and accuracy rises with constraints, also of
    images in none of them.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(60, n_features=4, centers=3, random_state=0)
    >>> model = CopKMeans(n_clusters=3, random_state=0).fit(X, cl=[(0, 1), (1, 2), (0, 2)])
    >>> model.is_satisfied_, len(set(model.labels_[:3].tolist()))
    (True, 3)
    """

    n_init: int = 6
    strategy: str | QueryStrategy = "random"
    candidates: Candidates = "random"

    @property
    def is_satisfied_(self) -> bool:
        """Return whether the clusters violate no constraint."""
        return self._partition.is_satisfied

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        self._partition = CopKMeansPartition(self.settings_.n_init)
        questioner = PairQuestioner(self.settings_.strategy, self.settings_.candidates)
        return PartitionLearner(self._partition), questioner


class CopKMeansPartition:
    """The best of `n_init` starts; `is_satisfied` is whether it violates no constraint."""

    def __init__(self, n_init: int) -> None:
        self.n_init, self.is_satisfied = n_init, True

    def __call__(
        self, rows: Floats, n_clusters: int, constraints: ConstraintGraph, seed: int
    ) -> Indexes:
        """Return the clusters of the best start; warn if it violates a constraint."""
        groups = constrained_groups(constraints)
        runs = []
        for start in range(self.n_init):
            rng = stream(seed, "cop-kmeans", start)
            order = rng.permutation(len(groups.cannot_links))
            if start % 2:  # groups with most cannot-links first: fewer dead ends
                degree = [-len(groups.cannot_links[group]) for group in order]
                order = order[np.argsort(degree, kind="stable")]
            runs.append(cop_kmeans(rows, n_clusters, groups, order, rng))
        best = min(runs, key=lambda run: run[1:])
        self.is_satisfied = best.n_violated == 0
        if not self.is_satisfied:
            warnings.warn(
                f"COP-KMeans found no clusters that satisfy all {constraints.n_answers} answers "
                f"in {self.n_init} starts: {best.n_violated} groups of images have a cannot-link "
                f"to each of the {n_clusters} clusters; increase n_init or n_clusters, or retract "
                "answers.",
                LikewiseWarning,
                stacklevel=5,
            )
        return best.clusters


class CopKMeansRun(NamedTuple):
    """The result of one start; compared by `n_violated`, then by `inertia`."""

    clusters: Indexes
    n_violated: int
    inertia: float


def cop_kmeans(
    rows: Floats,
    n_clusters: int,
    groups: ConstrainedGroups,
    order: Indexes,
    rng: np.random.Generator,
) -> CopKMeansRun:
    """Return the clusters of one start; `order` is the order in which groups choose a cluster."""
    centres = kmeans_plusplus(rows, n_clusters, rng, rows[:0])
    clusters, n_violated, inertia = _cop_assign(squared_distances(rows, centres), groups, order)
    for _ in range(_MAX_ITERATIONS):
        before = clusters
        centres = updated_centres(rows, clusters, centres)
        distances = squared_distances(rows, centres)
        clusters, n_violated, inertia = _cop_assign(distances, groups, order)
        if np.array_equal(before, clusters):
            break
    return CopKMeansRun(clusters, n_violated, inertia)


def _cop_assign(
    distances: Floats, groups: ConstrainedGroups, order: Indexes
) -> tuple[Indexes, int, float]:
    """Return the nearest allowed cluster, how many groups had none, and the inertia."""
    clusters = distances.argmin(axis=1)
    n_violated = 0
    if len(groups.images):
        costs = groups.sums(distances)
        chosen = np.full(len(costs), -1, dtype=np.intp)
        for group in order.tolist():
            taken = {int(chosen[other]) for other in groups.cannot_links[group]} - {-1}
            free = [c for c in range(costs.shape[1]) if c not in taken]
            n_violated += not free
            allowed = np.array(free or range(costs.shape[1]))
            chosen[group] = allowed[costs[group, allowed].argmin()]
        clusters[groups.images] = chosen[groups.group]
    own = distances[np.arange(len(distances)), clusters]
    return clusters, n_violated, float(own.sum(dtype=np.float64))
