"""K-means that starts from labelled images and never moves them to another cluster."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from likewise.seeds import derive, stream

Floats = npt.NDArray[np.float32]
Indexes = npt.NDArray[np.intp]
NO_LABEL = -1
_MAX_STEPS = 100
_SHARPNESS = 5.0
_CHUNK = 8192  # rows whose distances are held at once


@dataclass(frozen=True)
class Grouping:
    """Clusters of all images.

    Parameters
    ----------
    centres : array of shape (k, d)
    clusters : array of shape (n,)
    distances : array of shape (n,)
        Squared distance of each image to the centre of its cluster.
    """

    centres: Floats
    clusters: Indexes
    distances: Floats


def seeded_kmeans(rows: Floats, n_clusters: int, labels: Indexes, seed: int) -> Grouping:
    """Return the clusters of `rows`; cluster c is class c wherever class c has a label.

    Parameters
    ----------
    rows : array of shape (n, d)
    n_clusters : int
    labels : array of shape (n,)
        Class of each labelled image, -1 for all others. Labelled images stay in their
        class. A class without a label keeps a cluster, which starts far from all others.
    seed : int

    Notes
    -----
    [DSAC]_ section III-C ("semi-supervised k-means"). *Fidelity:* the authors' code has it
    and never calls it; seeds and constraints are those of Basu et al., 2002.
    """
    if (labels == NO_LABEL).all():
        state = derive(seed, "k-means") % 2**31
        centres = KMeans(n_clusters, n_init=5, random_state=state).fit(rows).cluster_centers_
        return group_by(rows, centres.astype(np.float32), labels)
    found = group_by(rows, _first_centres(rows, n_clusters, labels, seed), labels)
    for _ in range(_MAX_STEPS):
        before = found.clusters
        found = group_by(rows, _means(rows, found, n_clusters), labels)
        if np.array_equal(before, found.clusters):
            break
    return found


def group_by(rows: Floats, centres: Floats, labels: Indexes) -> Grouping:
    """Return the clusters of given centres; labelled images are in their class."""
    nearest = (np.square(centres).sum(axis=1) - 2 * rows @ centres.T).argmin(axis=1)
    clusters = np.where(labels == NO_LABEL, nearest, labels).astype(np.intp)
    away = rows - centres[clusters]
    return Grouping(centres, clusters, np.einsum("nd,nd->n", away, away))


def squared_distances(rows: Floats, centres: Floats) -> Floats:
    """Return the squared distance of every row to every centre, ``(n, k)``."""
    # By differences: an image's distances must not depend on its companions' number.
    table = np.empty((len(rows), len(centres)), dtype=np.float32)
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        for k, centre in enumerate(centres):
            away = part - centre
            table[start : start + _CHUNK, k] = np.einsum("nd,nd->n", away, away)
    return table


def nearness(rows: Floats, centres: Floats) -> Floats:
    r"""Return soft assignments ``(n, k)`` that order as the distances do; rows sum to one.

    Notes
    -----
    The softmax over k of :math:`-\delta_{ik} / \bar\delta_i`, with the distance of image i to
    centre k and their mean over k.
    """
    away = np.sqrt(squared_distances(rows, centres))
    scale = away.mean(axis=1, keepdims=True).clip(1e-12)
    weights = np.exp(_SHARPNESS * (away.min(axis=1, keepdims=True) - away) / scale)
    shares: Floats = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


def _first_centres(rows: Floats, n_clusters: int, labels: Indexes, seed: int) -> Floats:
    """Return class means, and for classes without a label images far from all centres so far."""
    rng = stream(seed, "seeds of k-means")
    centres = np.zeros((n_clusters, rows.shape[1]), dtype=np.float32)
    named = np.unique(labels[labels != NO_LABEL])
    for c in named:
        centres[c] = rows[labels == c].mean(axis=0)
    known = centres[named]
    for c in np.setdiff1d(np.arange(n_clusters), named):
        nearest = squared_distances(rows, known).min(axis=1).astype(np.float64)
        nearest[labels != NO_LABEL] = 0
        total = nearest.sum()
        chance = nearest / total if total > 0 else np.full(len(rows), 1 / len(rows))
        centres[c] = rows[rng.choice(len(rows), p=chance)]
        known = np.concatenate([known, centres[c : c + 1]])
    return centres


def _means(rows: Floats, found: Grouping, n_clusters: int) -> Floats:
    """Return the mean of each cluster; one without images stays where it is."""
    means = found.centres.copy()
    for c in range(n_clusters):
        members = rows[found.clusters == c]
        if len(members):
            means[c] = members.mean(axis=0)
    return means
