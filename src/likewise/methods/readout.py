"""Clusters read from embeddings by centres, where a method has no assignment head to read."""

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from likewise.seeds import derive

Floats = npt.NDArray[np.float32]
_SHARPNESS = 10.0  # inverse temperature of cosine similarities


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
