"""Partition that follows the first answers, by seeded k-means in the likely feature spaces.

Its most central images serve the Gaussian-process classifier as pseudo-labels while there are
few answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.estimators.kernel.feature_spaces import FeatureSpaces
from likewise.estimators.kernel.gp_classifier import squared_distances
from likewise.estimators.kernel.partitions import kmeans
from likewise.estimators.kernel.training_set import TrainingSet
from likewise.estimators.thread_limits import single_threaded
from likewise.random_streams import derive
from likewise.types import Floats, Indexes

_SHRINKAGE = 2.0  # images that the unguided centre counts for in the centre of a group
_LABEL_WEIGHT = 5.0  # of a labelled image; others have 1
_MAX_STEPS = 15
_STARTS, _RESTARTS = 10, 3  # k-means runs: the first time, and after each training
_TOLERANCE = 1.01  # a new start replaces the former partition if its cost is 1 % lower
_N_PSEUDO, _N_PSEUDO_FIRST, _FIRST = 8, 12, 5  # pseudo-labels per cluster; more below 5 labels
_INNER = 0.6  # share of a cluster from which they are taken
_WEIGHT, _BOOST = 0.2, 20.0
_MIN_WEIGHT = 0.04
_FOREIGN = 8.0  # odds against a new group in a cluster with one label


@dataclass(frozen=True)
class Partition:
    """Clusters of the sample; those of groups with answers come first, in the same order.

    Parameters
    ----------
    images : array of shape (m,)
        The sample and all labelled images.
    labels : array of shape (m,)
    distances : array of shape (m,)
        Squared distance to the own centre.
    n_foreign : array of shape (n_clusters,)
        Labelled images of another cluster whose nearest centre this is.
    trust : float
        How well clusters predicted the labels so far (`SpacePosterior`).
    """

    images: Indexes
    labels: Indexes
    distances: Floats
    n_foreign: Indexes
    trust: float

    @property
    def n_clusters(self) -> int:
        """Return the number of clusters."""
        return len(self.n_foreign)


class SeededPartition:
    """Seeded k-means on a sample, in the space that the answers make likely.

    Parameters
    ----------
    spaces : FeatureSpaces
    seed : int
    """

    def __init__(self, spaces: FeatureSpaces, seed: int) -> None:
        self._spaces, self._seed = spaces, seed
        self._former: Indexes | None = None  # unguided clusters of the sample

    def copy(self) -> "SeededPartition":
        """Return a new partition that starts from the same clusters; this one is not changed."""
        other = SeededPartition(self._spaces, self._seed)
        other._former = self._former
        return other

    def get_state(self) -> dict[str, Any]:
        """Return the unguided clusters of the last training, from which the next ones start."""
        return {} if self._former is None else {"seeded_partition.clusters": self._former}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `get_state` returned."""
        self._former = state.get("seeded_partition.clusters")

    @single_threaded
    def fit(self, images: Indexes, classes: Indexes) -> Partition:
        """Return the partition after these labels.

        Parameters
        ----------
        images, classes : arrays of shape (m,)
            Labelled images in the order of their answers.
        """
        posterior = self._spaces.posterior(images, classes)
        k = min(posterior.n_clusters, len(self._spaces.sample))
        sampled, labelled = self._spaces.rows(posterior.weights, images)
        centers = self._unguided(sampled, k, len(images))
        if len(images):
            centers = self._seeded_centers(sampled, centers, labelled, classes)
        sample = self._spaces.sample
        return _assign(sample, sampled, images, labelled, classes, centers, posterior.trust)

    def _unguided(self, rows: Floats, k: int, n_labels: int) -> Floats:
        """Return k-means centres; the former clusters are kept unless others are clearly better."""
        former = self._former
        n_init = _STARTS if former is None else _RESTARTS
        state = derive(self._seed, "seeded partition", n_labels) % 2**31
        found = kmeans(rows, k, n_init=n_init, seed=state)
        if former is not None and len(np.unique(former)) == k:
            means = np.array([rows[former == c].mean(axis=0) for c in range(k)], dtype=np.float32)
            kept = kmeans(rows, k, init=means)
            if kept.inertia < found.inertia * _TOLERANCE:
                found = kept
        self._former = found.labels
        return found.centers

    def _seeded_centers(
        self, rows: Floats, unguided: Floats, labelled: Floats, classes: Indexes
    ) -> Floats:
        """Return the centres of seeded k-means: groups first, then free clusters."""
        seeds = _group_centers(unguided, labelled, classes)
        centers = np.vstack([seeds, _free_centers(rows, unguided, seeds)])
        everything = np.vstack([rows, labelled])
        weights = np.r_[np.ones(len(rows)), np.full(len(labelled), _LABEL_WEIGHT)].astype(
            np.float32
        )
        for _ in range(_MAX_STEPS):
            labels = squared_distances(everything, centers).argmin(axis=1)
            labels[len(rows) :] = classes
            new = centers.copy()
            for k in range(len(centers)):
                inside = labels == k
                if inside.any():
                    w = weights[inside, None]
                    new[k] = (everything[inside] * w).sum(axis=0) / w.sum()
            if np.allclose(new, centers, atol=1e-5):
                break
            centers = new
        return centers


def _group_centers(unguided: Floats, labelled: Floats, classes: Indexes) -> Floats:
    """Return each group's mean label, shrunk towards the cluster with most of its labels."""
    clusters = squared_distances(labelled, unguided).argmin(axis=1)
    centers = []
    for group in range(int(classes.max()) + 1):
        mine = classes == group
        home = np.bincount(clusters[mine], minlength=len(unguided)).argmax()
        total = _SHRINKAGE * unguided[home] + labelled[mine].sum(axis=0)
        centers.append(total / (_SHRINKAGE + mine.sum()))
    return np.array(centers, dtype=np.float32)


def _free_centers(rows: Floats, unguided: Floats, seeds: Floats) -> Floats:
    """Return the unguided centres that lower the cost most, selected greedily."""
    nearest = squared_distances(rows, seeds).min(axis=1)
    distances = squared_distances(rows, unguided)
    chosen: list[int] = []
    for _ in range(len(unguided) - len(seeds)):
        costs = np.minimum(nearest[:, None], distances).sum(axis=0)
        costs[chosen] = np.inf
        chosen.append(int(costs.argmin()))
        nearest = np.minimum(nearest, distances[:, chosen[-1]])
    free: Floats = unguided[chosen]
    return free


def _assign(
    sample: Indexes,
    sampled: Floats,
    images: Indexes,
    labelled: Floats,
    classes: Indexes,
    centers: Floats,
    trust: float,
) -> Partition:
    outside = ~np.isin(sample, images)
    distances = squared_distances(np.vstack([sampled[outside], labelled]), centers)
    labels = distances.argmin(axis=1)
    nearest = labels[outside.sum() :].copy()
    n_foreign = np.bincount(nearest[nearest != classes], minlength=len(centers))
    labels[outside.sum() :] = classes
    own = distances[np.arange(len(labels)), labels]
    return Partition(np.r_[sample[outside], images], labels, own, n_foreign, trust)


def central_images(partition: Partition, training: TrainingSet) -> TrainingSet:
    r"""Return pseudo-labels: the most central images of each cluster, as a training set.

    Notes
    -----
    With n labels in all and :math:`n_g` of group g, the weight is
    :math:`q t / (1 + n_g)` where it has some, with :math:`t = 0.2 (1 + 20 / (1 + n)^2)` and q the
    trust in the partition; :math:`q \min(t, 1) / (1 + 8 f)` where it has none, with f the labelled
    images inside its cluster. So the answers take over smoothly, and sooner where they do not
    follow the clusters.

    Parameters
    ----------
    partition : Partition
    training : TrainingSet
        The labelled images.
    """
    n, counts = len(training.images), np.bincount(training.classes, minlength=training.n_classes)
    weight = _WEIGHT * (1 + _BOOST / (1 + n) ** 2)
    n_images = _N_PSEUDO if n >= _FIRST else _N_PSEUDO_FIRST
    is_free = ~np.isin(partition.images, training.images)
    found = training.take(np.empty(0, dtype=np.intp))
    for group, seen in enumerate(counts.tolist()):
        w = partition.trust * weight / (1 + seen)
        if not seen:  # an answer inside the cluster shows that it is no group of its own
            w = partition.trust * min(weight, 1.0) / (1 + _FOREIGN * partition.n_foreign[group])
        inside = np.flatnonzero((partition.labels == group) & is_free)
        if w < _MIN_WEIGHT or not len(inside):
            continue
        order = inside[np.argsort(partition.distances[inside], kind="stable")]
        last = max(0, int(len(order) * _INNER) - 1)
        ranks = np.unique(np.linspace(0, last, min(n_images, len(order))).astype(np.intp))
        found = found.append(partition.images[order[ranks]], np.full(len(ranks), group), w)
    return found
