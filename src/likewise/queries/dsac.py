"""DSAC's selection of single images to label: representative and difficult ones.

Functions of arrays; [DSAC]_ section III-B. *Fidelity:* decisions the paper leaves open: a budget
of one label per cluster alternates between the two kinds (`shares`), weights that tie at 0 are
ranked by distance (`representatives`, `difficult`), pseudo-labels are limited by the size of
the cluster, recomputed each round from the labels alone, and are classes rather than cluster
numbers (`pseudo_labels`).
"""

from typing import Literal

import numpy as np

from likewise.errors import InvalidParameterError
from likewise.queries.base import FloatArray, Mask
from likewise.queries.density import N_CANDIDATES, check_n_candidates, compactness
from likewise.types import Indexes

NO_LABEL = -1


def pace(distances: FloatArray, quantile: float = 0.95) -> float:
    r"""Return :math:`\lambda`, the distance from which on an image has weight 0."""
    return float(np.quantile(distances, quantile)) if len(distances) else 0.0


def self_paced_weights(distances: FloatArray, lam: float) -> FloatArray:
    r"""Return :math:`w_i = \max(1 - d_i / \lambda, 0)`, [DSAC]_ Eq. (2) in closed form.

    Parameters
    ----------
    distances : array of shape (n,)
        Squared distance of each image to the centre of its cluster.
    lam : float
        The pace; if it is 0, images at their centre have weight 1, all others 0.
    """
    if lam < 0:
        raise InvalidParameterError(f"lam must be >= 0, got {lam}; use pace(distances).")
    if lam == 0:
        return (distances <= 0).astype(float)
    weights: FloatArray = np.maximum(1 - distances / lam, 0)
    return weights


def quotas(budget: int, n_open: Indexes) -> Indexes:
    """Return the number of images to label in each cluster, shape (k,).

    Each cluster gets the floor of `budget` / k, limited by its unlabelled images; the rest of
    the budget goes, one by one, to the clusters with the smallest quota, and among these to
    the one with most unlabelled images left.
    """
    quota = np.minimum(budget // len(n_open), n_open)
    for _ in range(min(budget, int(n_open.sum())) - int(quota.sum())):
        left = n_open - quota
        quota[np.lexsort((-left, quota, left == 0))[0]] += 1
    return quota


def shares(
    quota: Indexes, round_number: int, *, only: Literal["representative", "difficult"] | None = None
) -> tuple[Indexes, Indexes]:
    """Return the numbers of representative and of difficult images for each cluster.

    One representative and the rest difficult; a quota of one is representative in even rounds
    and difficult in odd ones. `only` gives the paper's two ablations.
    """
    if only == "representative":
        return quota, np.zeros_like(quota)
    if only == "difficult":
        return np.zeros_like(quota), quota
    first = np.minimum(quota, 1)
    if round_number % 2:
        first = np.where(quota == 1, 0, first)
    return first, quota - first


def representatives(
    embeddings: FloatArray,
    clusters: Indexes,
    distances: FloatArray,
    counts: Indexes,
    is_labelled: Mask,
    *,
    n_candidates: int = N_CANDIDATES,
) -> Indexes:
    """Return for each cluster the most compact of the unlabelled images nearest its centre.

    Parameters
    ----------
    embeddings : array of shape (n, d)
    clusters : array of shape (n,)
    distances : array of shape (n,)
        Squared distance to the cluster's centre; the smallest distance has the largest weight.
    counts : array of shape (k,)
        Number of images for each cluster; fewer if it has fewer unlabelled ones.
    is_labelled : array of shape (n,)
    n_candidates : int
        :math:`k_1`: number of nearest images compared; at least the number selected.
    """
    return _most_compact(embeddings, clusters, distances, counts, is_labelled, n_candidates)


def difficult(
    embeddings: FloatArray,
    clusters: Indexes,
    distances: FloatArray,
    counts: Indexes,
    is_labelled: Mask,
    *,
    n_candidates: int = N_CANDIDATES,
) -> Indexes:
    """Return for each cluster the most compact of the unlabelled images farthest from its centre.

    Parameters are those of `representatives`; mark its selection in `is_labelled` first.
    """
    return _most_compact(embeddings, clusters, -distances, counts, is_labelled, n_candidates)


def pseudo_labels(clusters: Indexes, distances: FloatArray, labels: Indexes, k2: int) -> Indexes:
    """Return the labels, propagated to the `k2` images nearest each cluster's centre, (n,).

    The label of a cluster is that of its labelled image nearest the centre; a cluster without
    labelled image propagates nothing. Given labels are never changed.

    Parameters
    ----------
    clusters, distances : arrays of shape (n,)
    labels : array of shape (n,)
        Class of each labelled image, -1 for the others. Two clusters may have the same class.
    k2 : int
        Limited by the size of the cluster.
    """
    propagated = labels.copy()
    for cluster in np.unique(clusters):
        members = np.flatnonzero(clusters == cluster)
        nearest_first = members[np.argsort(distances[members], kind="stable")]
        labelled = nearest_first[labels[nearest_first] != NO_LABEL]
        if len(labelled):
            near = nearest_first[:k2]
            label = labels[labelled[0]]
            propagated[near] = np.where(labels[near] == NO_LABEL, label, labels[near])
    return propagated


def _most_compact(
    embeddings: FloatArray,
    clusters: Indexes,
    order_by: FloatArray,
    counts: Indexes,
    is_labelled: Mask,
    n_candidates: int,
) -> Indexes:
    """Return in each cluster the most compact of the images with the lowest `order_by`."""
    check_n_candidates(n_candidates)
    selected = [np.empty(0, dtype=np.intp)]
    for cluster, count in enumerate(counts.tolist()):
        members = np.flatnonzero((clusters == cluster) & ~is_labelled)
        lowest = np.argsort(order_by[members], kind="stable")[: max(n_candidates, count)]
        candidates = members[lowest]
        if count and len(candidates):
            compact = compactness(embeddings, of=candidates)
            selected.append(candidates[np.argsort(-compact, kind="stable")[:count]])
    return np.concatenate(selected)
