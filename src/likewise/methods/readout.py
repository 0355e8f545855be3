"""Clusters read from embeddings by centres, where a method has no assignment head to read."""

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from likewise.methods.one_thread import on_one_thread
from likewise.seeds import derive

Floats = npt.NDArray[np.float32]
_SHARPNESS = 10.0  # inverse temperature of cosine similarities


@on_one_thread
def fit_centres(embeddings: Floats, n_clusters: int, seed: int) -> Floats:
    """Return unit centres ``(k, d)`` of k-means on unit rows."""
    found = KMeans(n_clusters, n_init=10, random_state=derive(seed, "centres") % 2**31)
    centres = found.fit(embeddings).cluster_centers_
    lengths = np.linalg.norm(centres, axis=1, keepdims=True).clip(1e-12)
    unit: Floats = (centres / lengths).astype(np.float32)
    return unit


def nearness(embeddings: Floats, centres: Floats) -> Floats:
    """Return soft assignments ``(n, k)`` by cosine similarity; rows sum to one."""
    similarity = _SHARPNESS * (embeddings @ centres.T)
    weights = np.exp(similarity - similarity.max(axis=1, keepdims=True))
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def distances(rows: Floats, centres: Floats) -> Floats:
    """Return the distance of every row to every centre; infinite to a centre that is NaN."""
    # Centre by centre: an image's distances must not depend on its companions' number.
    away = np.stack([np.linalg.norm(rows - centre, axis=1) for centre in centres], axis=1)
    found: Floats = np.where(np.isnan(away), np.inf, away).astype(np.float32)
    return found


def softened(away: Floats, margin: float) -> Floats:
    """Return probabilities that order as distances do; rows sum to one."""
    weights = np.exp(-2 * (away - away.min(axis=1, keepdims=True)) / margin)
    found: Floats = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return found


def mean_margin(away: Floats) -> float:
    """Return how much farther the second centre is than the nearest, on average."""
    if np.isfinite(away[0]).sum() < 2:
        return 1.0
    nearest, second = np.partition(away, 1, axis=1)[:, :2].T
    return float((second - nearest).mean()) or 1.0
