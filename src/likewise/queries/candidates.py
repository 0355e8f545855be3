"""Candidate pairs: which of all pairs of images a query strategy scores."""

import numpy as np

from likewise.constraints.question import Relation
from likewise.errors import InvalidParameterError
from likewise.queries.base import (
    FloatArray,
    Mask,
    Pool,
    QueryStrategy,
    Random,
    select,
    sorted_unique,
)
from likewise.queries.pairwise import known_groups
from likewise.types import Indexes, Pairs

_MAX_KMEANS_IMAGES = 5_000  # images among which the first ones are drawn by k-means++


def all_pairs(indexes: Indexes) -> Pairs:
    """Return all pairs of distinct images among `indexes`, sorted, shape (b(b - 1)/2, 2)."""
    images = np.unique(indexes)
    first, second = np.triu_indices(len(images), k=1)
    return np.stack([images[first], images[second]], axis=1)


def random_pairs(n_images: int, m: int, rng: np.random.Generator) -> Pairs:
    """Return `m` distinct pairs, uniform over all pairs of `n_images` images; all if fewer."""
    _check_count(m)
    n_pairs = n_images * (n_images - 1) // 2
    if 2 * m >= n_pairs:
        codes = rng.permutation(n_pairs)[:m]
    else:
        codes = np.empty(0, dtype=np.int64)
        while len(codes) < m:  # fewer than half are drawn, so a few rounds suffice
            more = rng.integers(n_pairs, size=m - len(codes) + 16)
            codes = sorted_unique(np.concatenate([codes, more]))
        codes = rng.permutation(codes)[:m]
    return _decode_triangular(codes)


def anchored_pairs(
    pool: Pool, m: int, rng: np.random.Generator, *, max_groups: int | None = None
) -> Pairs:
    """Return pairs of `m` random images with a representative of each known group.

    An answer then assigns an image to a group or excludes it from one, while most answers to
    random pairs are "different" and imply little. The representatives are paired among
    themselves too. Before the first answer: all pairs of `m` images drawn by k-means++.

    Parameters
    ----------
    pool : Pool
    m : int
    rng : numpy.random.Generator
    max_groups : int, optional
        Use only the largest groups; by default twice the number of clusters.
    """
    _check_count(m)
    images = _good_images(pool)
    limit = 2 * pool.probabilities.shape[1] if max_groups is None else max_groups
    anchors = group_representatives(pool)[:limit]
    if not len(anchors):
        sample = rng.permutation(images)[: max(_MAX_KMEANS_IMAGES, m)]
        return all_pairs(sample[kmeans_plusplus(pool.embeddings[sample], m, rng)])
    others = rng.permutation(np.setdiff1d(images, anchors))[:m]
    against = np.stack(np.meshgrid(others, anchors, indexing="ij"), axis=-1).reshape(-1, 2)
    return np.concatenate([np.sort(against, axis=1), all_pairs(anchors)])


def placing_pairs(
    strategy: QueryStrategy, pool: Pool, n: int, rng: np.random.Generator, *, width: int = 1
) -> Pairs:
    """Return at most `n` open pairs that assign images to the known groups, in order.

    An image is compared with a representative of each group, the nearest group first, until
    one matches; then the next image. An image that is not assigned yet uses up answers
    without result, so such images come before new ones; the strategy orders the new ones.
    Before the first answer: pairs of a few images that are far apart.

    Parameters
    ----------
    strategy : QueryStrategy
    pool : Pool
    n : int
    rng : numpy.random.Generator
    width : int
        New images drawn per question; with 1 the strategy determines little more than their
        order.

    Returns
    -------
    pairs : array of shape (at most n, 2)
        Some may be implied by the answers to earlier ones, so they must be asked one by one.
    """
    n_groups = pool.probabilities.shape[1]
    known = group_representatives(pool)
    if not len(known):
        n_first = max(2 * n_groups, 2 + int(np.sqrt(2 * n)))
        return select(strategy, pool, anchored_pairs(pool, n_first, rng), n, rng, allow_fewer=True)
    anchors, unassigned = known[:n_groups], known[n_groups:]
    first = all_pairs(anchors)
    images = np.concatenate([unassigned, _new_images(strategy, pool, n, rng, width)])
    pairs = np.concatenate([first, _pairs_with_anchors(pool, images, anchors)])
    is_open = pool.constraints.pair_relations(pairs) == Relation.UNKNOWN
    selected: Pairs = pairs[is_open & ~_is_passed(pool, pairs)][:n]
    return selected


def group_representatives(pool: Pool) -> Indexes:
    """Return an image of each known group, the largest group first.

    A group is known if it has two images or a cannot-link to another group. Its representative
    is the member nearest to the mean of its embeddings, never a bad image.
    """
    groups = known_groups(pool.constraints)
    members = np.intersect1d(np.flatnonzero(groups.is_linked), _good_images(pool))
    means = groups.sums(pool.embeddings) / groups.sizes[:, None]
    group = groups.of[members]
    distances = ((pool.embeddings[members] - means[group]) ** 2).sum(axis=1)
    order = np.lexsort((distances, group))
    present, firsts = np.unique(group[order], return_index=True)
    by_size = np.argsort(-groups.sizes[present], kind="stable")
    return members[order][firsts][by_size]


def kmeans_plusplus(embeddings: FloatArray, n: int, rng: np.random.Generator) -> Indexes:
    """Return `n` distinct images drawn as k-means++ draws its centres.

    The first is uniform, each next one has a probability proportional to its squared distance
    to those drawn. Unlike `sklearn.cluster.kmeans_plusplus`, an image is never drawn twice:
    duplicates of drawn images follow when no other image is left.
    """
    n = min(n, len(embeddings))
    drawn = np.zeros(n, dtype=np.intp)
    nearest = np.full(len(embeddings), np.inf)
    is_left = np.ones(len(embeddings), dtype=bool)
    for position in range(n):
        weights = np.where(is_left & np.isfinite(nearest), nearest, 0.0)
        if weights.sum() <= 0:
            weights = is_left.astype(float)
        drawn[position] = rng.choice(len(embeddings), p=weights / weights.sum())
        is_left[drawn[position]] = False
        offsets = embeddings - embeddings[drawn[position]]
        nearest = np.minimum(nearest, np.einsum("nd,nd->n", offsets, offsets))
    return drawn


def _new_images(
    strategy: QueryStrategy, pool: Pool, n: int, rng: np.random.Generator, width: int
) -> Indexes:
    """Return images without known relation, in the order of their best pair, then others."""
    n_groups = pool.probabilities.shape[1]
    pairs = anchored_pairs(pool, width * n, rng, max_groups=n_groups)
    selected = select(strategy, pool, pairs, len(pairs), rng, allow_fewer=True)
    rest = select(Random(), pool, pairs, n, rng, allow_fewer=True)
    is_known = known_groups(pool.constraints).is_linked
    images = np.concatenate([selected, rest]).ravel()
    images = images[~is_known[images]]
    if not len(images):  # all drawn images have known relations
        bad = np.fromiter(pool.constraints.bad_images, dtype=np.intp)
        return rng.permutation(np.setdiff1d(np.flatnonzero(~is_known), bad))[:n]
    in_order: Indexes = images[np.sort(np.unique(images, return_index=True)[1])]
    return in_order


def _pairs_with_anchors(pool: Pool, images: Indexes, anchors: Indexes) -> Pairs:
    """Return each image with each anchor, image by image, the nearest group first."""
    groups = known_groups(pool.constraints)
    means = (groups.sums(pool.embeddings) / groups.sizes[:, None])[groups.of[anchors]]
    distances: FloatArray = np.square(means).sum(axis=1) - 2 * pool.embeddings[images] @ means.T
    nearest_first = anchors[np.argsort(distances, axis=1, kind="stable")]
    pairs = np.stack([np.repeat(images, len(anchors)), nearest_first.ravel()], axis=1)
    return np.sort(pairs, axis=1)


def _is_passed(pool: Pool, pairs: Pairs) -> Mask:
    """Return which pairs were recently answered "can't tell"."""
    return np.array([tuple(pair) in pool.passed for pair in pairs.tolist()], dtype=bool)


def _good_images(pool: Pool) -> Indexes:
    bad = np.fromiter(pool.constraints.bad_images, dtype=np.intp)
    return np.setdiff1d(np.arange(pool.constraints.n_images), bad)


def _check_count(m: int) -> None:
    if m < 1:
        raise InvalidParameterError(f"m must be an integer >= 1, got {m}.")


def _decode_triangular(codes: Indexes) -> Pairs:
    """Return pair ``(i, j)``, i < j, for each code ``j(j - 1)/2 + i``; exact to 5e7 images."""
    second = ((1 + np.sqrt(1 + 8.0 * codes)) / 2).astype(np.int64)
    return np.stack([codes - second * (second - 1) // 2, second], axis=1).astype(np.intp)
