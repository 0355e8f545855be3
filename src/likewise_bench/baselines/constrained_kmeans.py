"""Constrained k-means: must-link groups, distances and centres, and COP-KMeans."""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import LikewiseWarning
from likewise.estimators.data import Data
from likewise.estimators.parts import Learner, Questioner
from likewise.estimators.questioners import Candidates, PairQuestioner
from likewise.queries.base import QueryStrategy
from likewise.random_streams import stream
from likewise.types import Floats, Indexes
from likewise_bench.baselines.partition_learner import PartitionBaseline, PartitionLearner


@dataclass(frozen=True)
class ConstrainedGroups:
    """The images in at least one constraint, as must-link groups.

    Parameters
    ----------
    images : array of shape (m,)
    group : array of shape (m,)
        The must-link group of each of these images, from 0.
    cannot_links : list of sets
        The groups that each group has a cannot-link with.
    """

    images: Indexes
    group: Indexes
    cannot_links: list[set[int]]

    @property
    def sizes(self) -> Indexes:
        """Return the number of images of each group."""
        return np.bincount(self.group, minlength=len(self.cannot_links))

    def sums(self, values: Floats) -> npt.NDArray[np.float64]:
        """Return the sum of the rows of each group; `values` has a row for every image."""
        n_groups = len(self.cannot_links)
        sums = [np.bincount(self.group, column, n_groups) for column in values[self.images].T]
        return np.stack(sums, axis=1)


def constrained_groups(graph: ConstraintGraph) -> ConstrainedGroups:
    """Return the groups of several images, or with a cannot-link to another group."""
    groups, cannot_links = graph.groups(), graph.cannot_links()
    is_constrained = np.bincount(groups, minlength=graph.n_images) > 1
    is_constrained[cannot_links] = True
    images = np.flatnonzero(is_constrained[groups])
    ids, group = np.unique(groups[images], return_inverse=True)
    others: list[set[int]] = [set() for _ in ids]
    number = {int(group_id): position for position, group_id in enumerate(ids)}
    for one, other in cannot_links.tolist():
        others[number[one]].add(number[other])
        others[number[other]].add(number[one])
    return ConstrainedGroups(images, group, others)


def kmeans_plusplus(rows: Floats, n: int, rng: np.random.Generator, initial: Floats) -> Floats:
    """Return `n` centres: the `initial` ones, then rows drawn by k-means++.

    scikit-learn's `kmeans_plusplus` cannot continue from given centres.
    """
    centres = list(initial[:n])
    if not centres:
        centres.append(rows[rng.integers(len(rows))])
    nearest = np.min([np.square(rows - centre).sum(axis=1) for centre in centres], axis=0)
    while len(centres) < n:
        total = float(nearest.sum(dtype=np.float64))
        chance = nearest / total if total > 0 else np.full(len(rows), 1 / len(rows))
        chance = chance.astype(np.float64) / chance.sum(dtype=np.float64)
        centres.append(rows[rng.choice(len(rows), p=chance)])
        nearest = np.minimum(nearest, np.square(rows - centres[-1]).sum(axis=1))
    return np.stack(centres)


def squared_distances(rows: Floats, centres: Floats) -> Floats:
    """Return squared distances ``(n, k)``, computed by one matrix product."""
    distances: Floats = (
        np.square(rows).sum(axis=1)[:, None] - 2 * rows @ centres.T + np.square(centres).sum(axis=1)
    ).clip(min=0)
    return distances


def updated_centres(rows: Floats, clusters: Indexes, centres: Floats) -> Floats:
    """Return the mean of each cluster; the centre of an empty cluster is kept."""
    is_member = np.zeros((len(centres), len(rows)), dtype=np.float32)
    is_member[clusters, np.arange(len(rows))] = 1
    sizes = is_member.sum(axis=1, keepdims=True)
    return np.where(sizes > 0, (is_member @ rows) / sizes.clip(min=1), centres)


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
