"""DSAC's choice of single images to label: representative ones and difficult ones.

Plain functions of arrays; [DSAC]_ section III-B. *Fidelity:* the consequences of the paper's
rule that it leaves open are settled here: a budget of one label a cluster alternates between
the two kinds (`shares`), weights that tie at 0 are ranked by distance (`representatives`,
`difficult`), pseudo-labels are capped by the size of the cluster, made anew each round from
the labels alone, and are classes rather than cluster numbers (`pseudo_labels`).
"""

from typing import Literal

import numpy as np

from likewise.constraints.relation import Indexes
from likewise.errors import InvalidParameterError
from likewise.queries.neighbours import neighbour_distances
from likewise.queries.pool import Floats, Mask

NO_LABEL = -1
CANDIDATES = 6  # of each cluster, the paper's k_1


def pace(distances: Floats, quantile: float = 0.95) -> float:
    r"""Return :math:`\lambda`, the distance beyond which an image weighs nothing."""
    return float(np.quantile(distances, quantile)) if len(distances) else 0.0


def self_paced_weights(distances: Floats, lam: float) -> Floats:
    r"""Return :math:`w_i = \max(1 - d_i / \lambda, 0)`, [DSAC]_ Eq. (2) in closed form.

    Parameters
    ----------
    distances : array of shape (n,)
        Squared distance of each image to the centre of its cluster.
    lam : float
        The pace; where it is 0, images at their centre weigh 1, all others 0.
    """
    if lam < 0:
        raise InvalidParameterError(
            f"lam={lam} is no distance; give 0 or more, such as pace(distances)."
        )
    if lam == 0:
        return (distances <= 0).astype(float)
    weights: Floats = np.maximum(1 - distances / lam, 0)
    return weights


def compactness(
    embeddings: Floats, k: int = 6, *, of: Indexes | None = None, epsilon: float = 0.1
) -> Floats:
    r"""Return how close each image is to its `k` nearest neighbours, 1 on average.

    Parameters
    ----------
    embeddings : array of shape (n, d)
    k : int
    of : array of shape (m,), optional
        The images wanted; all by default. The average is over these.
    epsilon : float
        Relative to the mean neighbour distance, so that units do not matter.

    Notes
    -----
    .. math:: C_i \propto \Big(\epsilon + \tfrac1k \textstyle\sum_{j \in kNN(i)}
        \lVert F_i - F_j \rVert^2\Big)^{-1}, \qquad \overline C = 1

    [DSAC]_ Eq. (3). *Fidelity:* printed without epsilon and scale, it is infinite for
    copies and rescales the loss by the unit of the embedding; the order is the same.
    """
    images = np.arange(len(embeddings)) if of is None else of
    means = neighbour_distances(embeddings, images, np.arange(len(embeddings)), k)
    scale = means.mean() if len(means) else 0.0
    if scale == 0:
        return np.ones(len(images))
    compact: Floats = 1 / (epsilon + means / scale)
    return compact / np.mean(compact)


def quotas(budget: int, n_open: Indexes) -> Indexes:
    """Return how many images to label in each cluster, (k,).

    Each gets the floor of `budget` / k, as far as it has unlabelled images; the rest of the
    budget goes, one by one, to those that got least, of these where most are left.
    """
    given = np.minimum(budget // len(n_open), n_open)
    for _ in range(min(budget, int(n_open.sum())) - int(given.sum())):
        left = n_open - given
        given[np.lexsort((-left, given, left == 0))[0]] += 1
    return given


def shares(
    quota: Indexes, round_number: int, *, only: Literal["representative", "difficult"] | None = None
) -> tuple[Indexes, Indexes]:
    """Return how many representative and how many difficult images each cluster gets.

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
    embeddings: Floats,
    clusters: Indexes,
    distances: Floats,
    counts: Indexes,
    is_labelled: Mask,
    *,
    n_candidates: int = CANDIDATES,
) -> Indexes:
    """Return for each cluster the most compact of the unlabelled images nearest its centre.

    Parameters
    ----------
    embeddings : array of shape (n, d)
    clusters : array of shape (n,)
    distances : array of shape (n,)
        Squared distance to the cluster's centre; the largest weight is the smallest distance.
    counts : array of shape (k,)
        How many images each cluster gets; fewer where it has fewer unlabelled ones.
    is_labelled : array of shape (n,)
    n_candidates : int
        :math:`k_1`: so many of the nearest are compared; all that are wanted, if these are more.
    """
    return _most_compact(embeddings, clusters, distances, counts, is_labelled, n_candidates)


def difficult(
    embeddings: Floats,
    clusters: Indexes,
    distances: Floats,
    counts: Indexes,
    is_labelled: Mask,
    *,
    n_candidates: int = CANDIDATES,
) -> Indexes:
    """Return for each cluster the most compact of the unlabelled images farthest from its centre.

    Parameters are those of `representatives`; mark its choice in `is_labelled` first.
    """
    return _most_compact(embeddings, clusters, -distances, counts, is_labelled, n_candidates)


def check_candidates(n_candidates: int) -> None:
    """Refuse a number of candidates among which nothing can be chosen."""
    if n_candidates < 1:
        raise InvalidParameterError(
            f"n_candidates={n_candidates} leaves no image to choose from; give at least 1, such "
            f"as the paper's {CANDIDATES}."
        )


def _most_compact(
    embeddings: Floats,
    clusters: Indexes,
    ranks: Floats,
    counts: Indexes,
    is_labelled: Mask,
    n_candidates: int,
) -> Indexes:
    """Return the most compact of the images of lowest rank in each cluster."""
    check_candidates(n_candidates)
    chosen = [np.empty(0, dtype=np.intp)]
    for cluster, count in enumerate(counts.tolist()):
        members = np.flatnonzero((clusters == cluster) & ~is_labelled)
        lowest = np.argsort(ranks[members], kind="stable")[: max(n_candidates, count)]
        candidates = members[lowest]
        if count and len(candidates):
            compact = compactness(embeddings, of=candidates)
            chosen.append(candidates[np.argsort(-compact, kind="stable")[:count]])
    return np.concatenate(chosen)


def pseudo_labels(clusters: Indexes, distances: Floats, labels: Indexes, k2: int) -> Indexes:
    """Return the labels, spread to the `k2` images nearest each cluster's centre, (n,).

    The label of a cluster is that of its labelled image nearest the centre, its standing
    representative; a cluster without one spreads nothing. Given labels are never changed.

    Parameters
    ----------
    clusters, distances : arrays of shape (n,)
    labels : array of shape (n,)
        Class of each labelled image, -1 for the others. Two clusters may well spread one class.
    k2 : int
        At most all of a cluster.
    """
    spread = labels.copy()
    for cluster in np.unique(clusters):
        members = np.flatnonzero(clusters == cluster)
        nearest_first = members[np.argsort(distances[members], kind="stable")]
        known = nearest_first[labels[nearest_first] != NO_LABEL]
        if len(known):
            near = nearest_first[:k2]
            spread[near] = np.where(labels[near] == NO_LABEL, labels[known[0]], labels[near])
    return spread
