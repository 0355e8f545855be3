"""k-means centroids, and soft assignment to them by cosine similarity or by distance."""

import numpy as np
from sklearn.cluster import KMeans

from likewise.estimators.thread_limits import single_threaded
from likewise.random_streams import derive
from likewise.types import Floats

_INVERSE_TEMPERATURE = 10.0  # of cosine similarities


@single_threaded
def fit_centroids(rows: Floats, n_clusters: int, seed: int) -> Floats:
    """Return the L2-normalised k-means centroids ``(k, d)`` of unit rows."""
    kmeans = KMeans(n_clusters, n_init=10, random_state=derive(seed, "centres") % 2**31)
    centroids = kmeans.fit(rows).cluster_centers_
    lengths = np.linalg.norm(centroids, axis=1, keepdims=True).clip(1e-12)
    unit: Floats = (centroids / lengths).astype(np.float32)
    return unit


def cosine_soft_assign(rows: Floats, centroids: Floats) -> Floats:
    """Return soft assignments ``(n, k)``: a softmax of cosine similarities."""
    similarity = _INVERSE_TEMPERATURE * (rows @ centroids.T)
    weights = np.exp(similarity - similarity.max(axis=1, keepdims=True))
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def centroid_distances(rows: Floats, centroids: Floats) -> Floats:
    """Return the distance ``(n, k)`` of every row to every centroid; infinite where one is NaN."""
    # One centroid at a time: the distances of a row must not depend on the number of rows.
    distances = np.stack([np.linalg.norm(rows - c, axis=1) for c in centroids], axis=1)
    found: Floats = np.where(np.isnan(distances), np.inf, distances).astype(np.float32)
    return found


def distance_soft_assign(distances: Floats, margin: float) -> Floats:
    """Return soft assignments ``(n, k)``: a softmax of negative distances over `margin`."""
    nearest = distances.min(axis=1, keepdims=True)
    weights = np.exp(-2 * (distances - nearest) / margin)
    shares: Floats = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


def mean_margin(distances: Floats) -> float:
    """Return the mean difference between the second smallest and the smallest distance."""
    if np.isfinite(distances[0]).sum() < 2:
        return 1.0
    nearest, second = np.partition(distances, 1, axis=1)[:, :2].T
    return float((second - nearest).mean()) or 1.0
