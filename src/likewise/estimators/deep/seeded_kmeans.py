"""k-means that starts from labelled images and never moves them to another cluster."""

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from likewise.random_streams import derive, stream
from likewise.types import Floats, Indexes

NO_LABEL = -1
_MAX_STEPS = 100
_INVERSE_TEMPERATURE = 5.0
_CHUNK = 8192  # rows whose distances are held at once


@dataclass(frozen=True)
class Clusters:
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


def seeded_kmeans(rows: Floats, n_clusters: int, labels: Indexes, seed: int) -> Clusters:
    """Return the clusters of `rows`; cluster c is class c wherever class c has a label.

    Parameters
    ----------
    rows : array of shape (n, d)
    n_clusters : int
    labels : array of shape (n,)
        Class of each labelled image, -1 for all others. Labelled images stay in their
        class. A class without a label has a cluster too, which starts far from all others.
    seed : int

    Notes
    -----
    [DSAC]_ section III-C ("semi-supervised k-means"). *Fidelity:* the authors' code has it
    and never calls it; seeds and constraints are those of Basu et al., 2002.
    """
    if (labels == NO_LABEL).all():
        state = derive(seed, "k-means") % 2**31
        centres = KMeans(n_clusters, n_init=5, random_state=state).fit(rows).cluster_centers_
        return assign_to_centres(rows, centres.astype(np.float32), labels)
    found = assign_to_centres(rows, _first_centres(rows, n_clusters, labels, seed), labels)
    for _ in range(_MAX_STEPS):
        before = found.clusters
        found = assign_to_centres(rows, _means(rows, found, n_clusters), labels)
        if np.array_equal(before, found.clusters):
            break
    return found


def assign_to_centres(rows: Floats, centres: Floats, labels: Indexes) -> Clusters:
    """Return the clusters of given centres; labelled images are in their class."""
    nearest = (np.square(centres).sum(axis=1) - 2 * rows @ centres.T).argmin(axis=1)
    clusters = np.where(labels == NO_LABEL, nearest, labels).astype(np.intp)
    away = rows - centres[clusters]
    return Clusters(centres, clusters, np.einsum("nd,nd->n", away, away))


def squared_distances(rows: Floats, centres: Floats) -> Floats:
    """Return the squared distance of every row to every centre, ``(n, k)``."""
    # By differences: the distances of a row must not depend on the number of rows.
    table = np.empty((len(rows), len(centres)), dtype=np.float32)
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        for k, centre in enumerate(centres):
            away = part - centre
            table[start : start + _CHUNK, k] = np.einsum("nd,nd->n", away, away)
    return table


def soft_assign(rows: Floats, centres: Floats) -> Floats:
    r"""Return soft assignments ``(n, k)`` that order as the distances do.

    Notes
    -----
    The softmax over k of :math:`-5 \delta_{ik} / \bar\delta_i`, with the distance of image i
    to centre k and their mean over k.
    """
    away = np.sqrt(squared_distances(rows, centres))
    scale = away.mean(axis=1, keepdims=True).clip(1e-12)
    nearest = away.min(axis=1, keepdims=True)
    weights = np.exp(_INVERSE_TEMPERATURE * (nearest - away) / scale)
    shares: Floats = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


def _first_centres(rows: Floats, n_clusters: int, labels: Indexes, seed: int) -> Floats:
    """Return class means; for classes without a label, rows far from all centres so far."""
    rng = stream(seed, "seeds of k-means")
    centres = np.zeros((n_clusters, rows.shape[1]), dtype=np.float32)
    labelled = np.unique(labels[labels != NO_LABEL])
    for c in labelled:
        centres[c] = rows[labels == c].mean(axis=0)
    known = centres[labelled]
    for c in np.setdiff1d(np.arange(n_clusters), labelled):
        nearest = squared_distances(rows, known).min(axis=1).astype(np.float64)
        nearest[labels != NO_LABEL] = 0
        total = nearest.sum()
        chance = nearest / total if total > 0 else np.full(len(rows), 1 / len(rows))
        centres[c] = rows[rng.choice(len(rows), p=chance)]
        known = np.concatenate([known, centres[c : c + 1]])
    return centres


def _means(rows: Floats, found: Clusters, n_clusters: int) -> Floats:
    """Return the mean of each cluster; an empty one keeps its centre."""
    means = found.centres.copy()
    for c in range(n_clusters):
        members = rows[found.clusters == c]
        if len(members):
            means[c] = members.mean(axis=0)
    return means
