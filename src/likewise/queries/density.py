"""Density: TypiClust, and DSAC's representative and difficult images, as pairs and to label.

*Fidelity:* decisions that [DSAC]_ section III-B leaves open: a budget of one label per cluster
alternates between the two kinds of images (`shares`), weights that tie at 0 are ranked by distance
(`representatives`, `difficult`), pseudo-labels are limited by the size of the cluster, recomputed
each round from the labels alone, and are classes rather than cluster numbers (`pseudo_labels`).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from likewise.errors import InvalidParameterError
from likewise.queries.base import FloatArray, Mask, Pool, sorted_unique
from likewise.queries.pairwise import known_groups, matrix_product
from likewise.types import Indexes, Pairs

N_CANDIDATES = 6  # per cluster, DSAC's k_1
_MAX_REFERENCES = 4096  # images of a cluster used to measure density
_MAX_DISTANCES = 4_000_000  # distances held in memory at once


@dataclass(frozen=True)
class TypiClust:
    r"""Prefer unanswered images that are the densest point of their cluster.

    Parameters
    ----------
    n_neighbours : int
        Number of neighbours used to measure density.

    Notes
    -----
    The typicality of an image is :math:`1 / \overline{\lVert z_i - z_j \rVert}` over its nearest
    neighbours in its cluster, [TYPICLUST]_. With :math:`r_i` its rank in the cluster
    (0 the densest) among the candidates' images without an answer, 0 for an answered image,

    .. math:: \mathrm{score}(i, j) = -(r_i + r_j)

    and pairs of two answered images come last, since they cover no new image.

    *Fidelity:* the paper labels single images and clusters again after each; here pairs in
    the model's clusters are asked. In a large cluster density is measured on every r-th image.
    """

    n_neighbours: int = 20

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score for each pair; 0 for the densest points of clusters."""
        is_linked = known_groups(pool.constraints).is_linked
        images = sorted_unique(pairs.ravel())
        return _rank_scores(pairs, self._ranks(pool, images[~is_linked[images]]), is_linked)

    def _ranks(self, pool: Pool, unanswered: Indexes) -> FloatArray:
        """Return the rank of each unanswered image in its cluster, 0 for the others, (n,)."""
        ranks = np.zeros(pool.constraints.n_images)
        clusters = pool.probabilities.argmax(axis=1)
        for cluster in np.unique(clusters[unanswered]):
            members = np.flatnonzero(clusters == cluster)
            references = members[:: -(-len(members) // _MAX_REFERENCES)]
            images = unanswered[clusters[unanswered] == cluster]
            distances = neighbour_distances(pool.embeddings, images, references, self.n_neighbours)
            ranks[images] = np.searchsorted(np.sort(distances), distances)  # equal values tie
        return ranks


@dataclass(frozen=True)
class RepresentativeDifficult:
    r"""Prefer compact central images of unanswered clusters, then compact peripheral images.

    Parameters
    ----------
    n_candidates : int
        :math:`k_1`: number of images nearest to the centre, and farthest from it, compared.

    Notes
    -----
    [DSAC]_ section III-B, see `likewise.queries.density`. With :math:`r_i` the rank of an image in
    its cluster (0 for the representative if the cluster has no answers, then the difficult
    images, then all others equally) and 0 for an answered image,

    .. math:: \mathrm{score}(i, j) = -(r_i + r_j)

    and pairs of two answered images come last.

    *Fidelity:* the paper labels single images; here pairs of the candidates' images are asked.
    """

    n_candidates: int = N_CANDIDATES

    def __post_init__(self) -> None:
        check_n_candidates(int(self.n_candidates))

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score for each pair; 0 for representatives."""
        is_linked = known_groups(pool.constraints).is_linked
        images = sorted_unique(pairs.ravel())
        ranks = self._ranks(pool, images[~is_linked[images]], is_linked)
        return _rank_scores(pairs, ranks, is_linked)

    def _ranks(self, pool: Pool, unanswered: Indexes, is_linked: Mask) -> FloatArray:
        """Return the rank of each unanswered image in its cluster, 0 for the others, (n,)."""
        clusters = pool.probabilities.argmax(axis=1)
        distances = _centre_distances(pool.embeddings, clusters, pool.probabilities.shape[1])
        ranks = np.zeros(len(clusters))
        ranks[unanswered] = self.n_candidates + 1
        for cluster in np.unique(clusters[unanswered]):
            images = unanswered[clusters[unanswered] == cluster]
            is_new = not is_linked[clusters == cluster].any()
            far = images[_is_among_lowest(-distances[images], int(self.n_candidates))]
            ranks[far] = is_new + _descending_ranks(compactness(pool.embeddings, of=far))
            if is_new:
                near = images[_is_among_lowest(distances[images], int(self.n_candidates))]
                compact = compactness(pool.embeddings, of=near)
                ranks[near[_descending_ranks(compact) == 0]] = 0
        return ranks


def compactness(
    embeddings: FloatArray, k: int = 6, *, of: Indexes | None = None, epsilon: float = 0.1
) -> FloatArray:
    r"""Return the inverse mean squared distance of images to their `k` neighbours, mean 1.

    Parameters
    ----------
    embeddings : array of shape (n, d)
    k : int
    of : array of shape (m,), optional
        The images to return values for; all by default. The mean is over these.
    epsilon : float
        Relative to the mean neighbour distance, so that the result does not depend on scale.

    Notes
    -----
    .. math:: C_i \propto \Big(\epsilon + \tfrac1k \textstyle\sum_{j \in kNN(i)}
        \lVert F_i - F_j \rVert^2\Big)^{-1}, \qquad \overline C = 1

    [DSAC]_ Eq. (3). *Fidelity:* printed without epsilon and scale, it is infinite for
    duplicates and rescales the loss by the unit of the embedding; the order is the same.
    """
    images = np.arange(len(embeddings)) if of is None else of
    means = neighbour_distances(embeddings, images, np.arange(len(embeddings)), k)
    scale = means.mean() if len(means) else 0.0
    if scale == 0:
        return np.ones(len(images))
    compact: FloatArray = 1 / (epsilon + means / scale)
    return compact / np.mean(compact)


def neighbour_distances(
    embeddings: FloatArray, images: Indexes, references: Indexes, k: int
) -> FloatArray:
    """Return the mean squared distance of each image to its `k` nearest references, (m,).

    Parameters
    ----------
    embeddings : array of shape (n, d)
    images : array of shape (m,)
    references : array of shape (r,)
        Possible neighbours, sorted and distinct; an image is not its own neighbour. With fewer
        than `k` neighbours the mean is over these; without any it is 0.
    k : int
    """
    others = embeddings[references]
    lengths = np.einsum("rd,rd->r", others, others)
    means = np.zeros(len(images))
    k = min(k, len(references) - 1)
    n_rows = max(1, _MAX_DISTANCES // max(len(references), 1))
    for start in range(0, len(images) if k > 0 else 0, n_rows):
        part = images[start : start + n_rows]
        rows = embeddings[part]
        squared = (
            np.einsum("md,md->m", rows, rows)[:, None] + lengths - 2 * matrix_product(rows, others)
        )
        position = np.searchsorted(references, part).clip(max=len(references) - 1)
        is_itself = references[position] == part
        squared[is_itself, position[is_itself]] = np.inf
        nearest = np.partition(squared, k - 1, axis=1)[:, :k]
        means[start : start + n_rows] = nearest.clip(min=0).mean(axis=1)
    return means


def check_n_candidates(n_candidates: int) -> None:
    """Raise if the number of candidates per cluster is below 1."""
    if n_candidates < 1:
        raise InvalidParameterError(
            f"n_candidates must be an integer >= 1, got {n_candidates}; the paper uses "
            f"{N_CANDIDATES}."
        )


def _rank_scores(pairs: Pairs, ranks: FloatArray, is_linked: Mask) -> FloatArray:
    """Return the negative sum of ranks; pairs of two answered images come last."""
    i, j = pairs.T
    last = 2 * len(ranks) * (is_linked[i] & is_linked[j])
    scores: FloatArray = -ranks[i] - ranks[j] - last
    return scores


def _is_among_lowest(values: FloatArray, n: int) -> Mask:
    """Return which values are among the `n` lowest; values equal to the n-th all count."""
    low: Mask = values <= np.sort(values)[min(n, len(values)) - 1]
    return low


def _descending_ranks(values: FloatArray) -> FloatArray:
    """Return for each value the number of higher values."""
    ranks: FloatArray = np.searchsorted(np.sort(-values), -values).astype(float)
    return ranks


def _centre_distances(rows: FloatArray, clusters: Indexes, k: int) -> FloatArray:
    """Return the squared distance of each image to the mean of its cluster, shape (n,)."""
    sums = np.zeros((k, rows.shape[1]))
    np.add.at(sums, clusters, rows)
    centres = sums / np.bincount(clusters, minlength=k).clip(1)[:, None]
    distances: FloatArray = np.square(rows - centres[clusters]).sum(axis=1)
    return distances


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

    The label of a cluster is that of its labelled image nearest the centre. A cluster without
    labelled image propagates nothing, nor does one in which fewer than half of the labelled
    images have that label. Given labels are never changed.

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
        given = labels[nearest_first][labels[nearest_first] != NO_LABEL]
        if len(given) and 2 * (given == given[0]).sum() >= len(given):
            near = nearest_first[:k2]
            propagated[near] = np.where(labels[near] == NO_LABEL, given[0], labels[near])
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
