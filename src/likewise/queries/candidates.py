"""Which pairs are worth scoring at all: a collection of n images has n(n - 1)/2 of them."""

import numpy as np

from likewise.constraints.relation import Indexes, Pairs
from likewise.errors import InvalidParameterError
from likewise.queries.codes import decode, distinct, encode
from likewise.queries.links import known_groups
from likewise.queries.pool import Pool
from likewise.queries.similarity import all_products
from likewise.queries.spread import spread

_MAX_SPREAD = 5_000  # images among which the spread ones are looked for


def all_pairs(indexes: Indexes) -> Pairs:
    """Return all pairs of distinct images among `indexes`, sorted, (b(b - 1)/2, 2)."""
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
        while len(codes) < m:  # less than half is drawn, so a few rounds do
            more = rng.integers(n_pairs, size=m - len(codes) + 16)
            codes = distinct(np.concatenate([codes, more]))
        codes = rng.permutation(codes)[:m]
    return _pair_of_code(codes)


def anchored_pairs(
    pool: Pool, m: int, rng: np.random.Generator, *, max_groups: int | None = None
) -> Pairs:
    """Return pairs of `m` random images, each with one representative of each known group.

    An answer then places an image in the scheme that exists, where most answers to random
    pairs are "different" and tie nothing together. The representatives are paired among
    themselves too. Before the first answer: all pairs of `m` images spread as by k-means++.

    Parameters
    ----------
    pool : Pool
    m : int
    rng : numpy.random.Generator
    max_groups : int, optional
        The largest groups taken; by default twice the number of clusters.
    """
    _check_count(m)
    images = _good_images(pool)
    limit = 2 * pool.probabilities.shape[1] if max_groups is None else max_groups
    anchors = group_representatives(pool)[:limit]
    if not len(anchors):
        some = rng.permutation(images)[: max(_MAX_SPREAD, m)]
        return all_pairs(some[spread(pool.embeddings[some], m, rng)])
    others = rng.permutation(np.setdiff1d(images, anchors))[:m]
    against = np.stack(np.meshgrid(others, anchors, indexing="ij"), axis=-1).reshape(-1, 2)
    return np.concatenate([np.sort(against, axis=1), all_pairs(anchors)])


def near_pairs(pool: Pool, m: int, rng: np.random.Generator, *, k: int = 10) -> Pairs:
    """Return up to `m` pairs of a random image and one of its `k` nearest: often "same"."""
    _check_count(m)
    images = _good_images(pool)
    if len(images) < 2:
        return np.empty((0, 2), dtype=np.intp)
    rows, k = pool.embeddings[images], min(k, len(images) - 1)
    pairs = []
    for block in np.array_split(rng.permutation(len(images))[:m], max(1, m // 64)):
        alike = all_products(rows[block], rows)  # unit rows: the nearest is the most alike
        alike[np.arange(len(block)), block] = -np.inf
        nearest = np.argpartition(-alike, k - 1, axis=1)[:, :k]
        drawn = nearest[np.arange(len(block)), rng.integers(k, size=len(block))]
        pairs.append(np.stack([images[block], images[drawn]], axis=1))
    n = pool.constraints.n_images
    return decode(distinct(encode(np.concatenate(pairs), n)), n)


def group_representatives(pool: Pool) -> Indexes:
    """Return one image of each known group, the largest group first.

    A group is known if it has two images or is known to differ from another one. Its
    representative is the member nearest to the mean of its embeddings, never a bad image.
    """
    groups = known_groups(pool.constraints)
    members = np.intersect1d(np.flatnonzero(groups.is_linked), _good_images(pool))
    means = groups.sums(pool.embeddings) / groups.sizes[:, None]
    group = groups.of[members]
    away = ((pool.embeddings[members] - means[group]) ** 2).sum(axis=1)
    order = np.lexsort((away, group))
    present, firsts = np.unique(group[order], return_index=True)
    by_size = np.argsort(-groups.sizes[present], kind="stable")
    return members[order][firsts][by_size]


def _good_images(pool: Pool) -> Indexes:
    bad = np.fromiter(pool.constraints.bad_images, dtype=np.intp)
    return np.setdiff1d(np.arange(pool.constraints.n_images), bad)


def _check_count(m: int) -> None:
    if m < 1:
        raise InvalidParameterError(f"m={m} candidates cannot be drawn; ask for at least 1.")


def _pair_of_code(codes: Indexes) -> Pairs:
    """Return pair ``(i, j)``, i < j, for each code ``j(j - 1)/2 + i``; exact to 5e7 images."""
    second = ((1 + np.sqrt(1 + 8.0 * codes)) / 2).astype(np.int64)
    return np.stack([codes - second * (second - 1) // 2, second], axis=1).astype(np.intp)
