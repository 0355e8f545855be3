"""The grouping before any answer: k-means, with the number of clusters by silhouette."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from likewise.estimators.kmeans import cosine_soft_assign, fit_centroids
from likewise.estimators.thread_limits import single_threaded
from likewise.random_streams import derive
from likewise.types import Floats

_KMEANS_SAMPLE, _SILHOUETTE_SAMPLE = 5_000, 1_000  # images
_MAX_CLUSTERS = 10
_MIN_IMAGES, _MAX_SHARE = 10, 0.8  # of `spans_several`


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
        """Fit the centroids to a sample of unit rows; `n_clusters` 0 selects it by silhouette."""
        k = n_clusters or choose_n_clusters(rows, seed)
        self.centroids = fit_centroids(rows[:: -(-len(rows) // _KMEANS_SAMPLE)], k, seed)
        return self

    def predict_proba(self, rows: Floats) -> Floats:
        """Return soft assignments ``(n, k)`` of unit rows."""
        assert self.centroids is not None  # `fit` comes first
        return cosine_soft_assign(rows, self.centroids)

    def spans_several(self, rows: Floats) -> bool:
        """Return whether one known group, given by the rows of its images, lies in many clusters.

        Such a group is most of the collection. k-means, which makes clusters of similar size,
        would divide it against all answers, so the labels alone are the better model.
        """
        if len(rows) < _MIN_IMAGES:
            return False
        counts = np.bincount(self.predict_proba(rows).argmax(axis=1))
        return bool(counts.max() < _MAX_SHARE * len(rows))

    def get_state(self) -> dict[str, Any]:
        """Return the centroids as a named array."""
        return {} if self.centroids is None else {"initial_clusters.centroids": self.centroids}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `get_state` returned."""
        self.centroids = state.get("initial_clusters.centroids")


@single_threaded
def choose_n_clusters(rows: Floats, seed: int) -> int:
    """Return the number of clusters, 2 to 10, with the best silhouette on a sample of `rows`."""
    sample = rows[:: -(-len(rows) // _SILHOUETTE_SAMPLE)]
    state = derive(seed, "number of clusters") % 2**31
    best, best_score = 1, -np.inf
    for k in range(2, min(_MAX_CLUSTERS, len(sample) - 1) + 1):
        labels = KMeans(k, n_init=2, random_state=state).fit_predict(sample)
        score = silhouette_score(sample, labels) if len(set(labels)) > 1 else -1.0
        if score > best_score:
            best, best_score = k, float(score)
    return best
