"""The grouping before any answer: k-means on all feature blocks."""

from collections.abc import Mapping
from typing import Any

from likewise.estimators.kmeans import cosine_soft_assign, fit_centroids
from likewise.types import Floats

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
