"""k-means partitions of an image sample, for one number of clusters or many; initial clusters."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import silhouette_score

from likewise.estimators.kernel.gp_classifier import squared_distances
from likewise.estimators.kmeans import cosine_soft_assign, fit_centroids
from likewise.types import Floats, Indexes

Doubles = npt.NDArray[np.float64]
Weighted = list[tuple[Floats, float]]  # centres, log prior
_N_RUNS = 2  # of k-means, for a given K
_KS = (*range(2, 17), 18, 20, 22, 24, 27, 30, 34, 40)
_MICRO_CLUSTERS = 160  # that are merged into each of these numbers of clusters
_SILHOUETTE_IMAGES, _SILHOUETTE_SCALE = 300, 10.0


def partitions_into(rows: Floats, n_clusters: int, seed: int) -> Weighted:
    """Return the centres of several k-means runs, each with its log prior."""
    k = min(n_clusters, len(rows))
    runs = [kmeans(rows, k, n_init=2, seed=seed + run) for run in range(_N_RUNS)]
    return [(run.centers, -float(np.log(_N_RUNS))) for run in runs]


def partitions_of_every_size(rows: Floats, seed: int) -> Weighted:
    r"""Return centres for 2 to 40 clusters, each with its log prior.

    Notes
    -----
    Ward's hierarchy of micro-clusters gives a partition for each K at once.
    :math:`p(K) \propto e^{10 s_K} / K`, :math:`s_K` the silhouette on a sample.
    """
    n_micro = min(_MICRO_CLUSTERS, max(len(rows) // 3, 1))
    micro = kmeans(rows, n_micro, n_init=1, seed=seed, max_iter=12)
    if n_micro == 1:
        return [(micro.centers, 0.0)]
    sizes = np.bincount(micro.labels, minlength=n_micro).astype(np.float64) + 1e-3
    tree = linkage(micro.centers, "ward")
    few = rows[:: -(-len(rows) // _SILHOUETTE_IMAGES)]
    distances = np.sqrt(squared_distances(few, few))
    np.fill_diagonal(distances, 0)
    ks = [k for k in _KS if k <= n_micro]
    centers = [
        _weighted_means(micro.centers, sizes, fcluster(tree, k, "maxclust").astype(np.intp) - 1)
        for k in ks
    ]
    log_p = np.array([_SILHOUETTE_SCALE * _silhouette(few, distances, c) for c in centers])
    log_p -= np.log(ks)
    log_p -= np.logaddexp.reduce(log_p)
    return list(zip(centers, log_p.tolist(), strict=True))


def _silhouette(rows: Floats, distances: Floats, centers: Floats) -> float:
    """Return the silhouette of rows assigned to their nearest centres; -1 if it is undefined."""
    labels = squared_distances(rows, centers).argmin(axis=1)
    if not 1 < len(np.unique(labels)) < len(rows):
        return -1.0
    return float(silhouette_score(distances, labels, metric="precomputed"))


def _weighted_means(rows: Floats, weights: Doubles, clusters: Indexes) -> Floats:
    """Return the weighted mean of each cluster's rows."""
    totals = np.zeros((int(clusters.max()) + 1, rows.shape[1]))
    np.add.at(totals, clusters, rows * weights[:, None])
    means = totals / np.bincount(clusters, weights=weights)[:, None]
    return np.asarray(means, dtype=np.float32)


@dataclass(frozen=True)
class Clusters:
    """A result of k-means."""

    centers: Floats
    labels: Indexes
    inertia: float


def kmeans(
    rows: Floats,
    k: int,
    *,
    n_init: int = 1,
    seed: int = 0,
    max_iter: int = 30,
    init: Floats | None = None,
) -> Clusters:
    """Run scikit-learn's k-means, without its warning if there are fewer distinct rows than k."""
    start: Any = "k-means++" if init is None else init
    run = KMeans(k, init=start, n_init=n_init, max_iter=max_iter, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        run.fit(rows)
    labels: Indexes = run.labels_.astype(np.intp)
    return Clusters(run.cluster_centers_.astype(np.float32), labels, float(run.inertia_))


_KMEANS_SAMPLE = 5_000  # images


class InitialClusters:
    """k-means on the concatenated feature blocks, which clusters images until answers do.

    Attributes
    ----------
    centroids : array of shape (k, d), optional
        Unit vectors; None before `fit`.
    """

    def __init__(self) -> None:
        self.centroids: Floats | None = None

    def fit(self, rows: Floats, n_clusters: int, seed: int) -> "InitialClusters":
        """Fit the centroids to a sample of unit rows."""
        sample = rows[:: -(-len(rows) // _KMEANS_SAMPLE)]
        self.centroids = fit_centroids(sample, n_clusters, seed)
        return self

    def predict_proba(self, rows: Floats) -> Floats:
        """Return soft assignments ``(n, k)`` of unit rows."""
        assert self.centroids is not None  # `fit` comes first
        return cosine_soft_assign(rows, self.centroids)

    def get_state(self) -> dict[str, Any]:
        """Return the centroids as a named array."""
        return {} if self.centroids is None else {"initial_clusters.centroids": self.centroids}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `get_state` returned."""
        self.centroids = state.get("initial_clusters.centroids")
