"""Questions that place images among the groups known so far, one image after another."""

import numpy as np

from likewise.constraints.relation import Indexes, Pairs, Relation
from likewise.queries.at_random import Random
from likewise.queries.candidates import all_pairs, anchored_pairs, group_representatives
from likewise.queries.links import known_groups
from likewise.queries.pool import Floats, Mask, Pool, QueryStrategy, select


def placing_pairs(
    strategy: QueryStrategy, pool: Pool, n: int, rng: np.random.Generator, *, width: int = 1
) -> Pairs:
    """Return at most `n` open pairs in the order in which they should be asked.

    An image is compared with one representative of each group, the nearest group first,
    until one fits; then the next image. An answer that leaves an image between the groups
    is half wasted, so images begun come before new ones; the strategy says which new ones.
    Before the first answer: pairs of a few images that lie far apart.

    Parameters
    ----------
    strategy : QueryStrategy
    pool : Pool
    n : int
    rng : numpy.random.Generator
    width : int
        New images drawn for each question wanted; with 1 the strategy says little more than
        in which order they come.

    Returns
    -------
    pairs : array of shape (at most n, 2)
        Some may follow from the answers to those before them: put them one by one.
    """
    n_groups = pool.probabilities.shape[1]
    known = group_representatives(pool)
    if not len(known):
        n_first = max(2 * n_groups, 2 + int(np.sqrt(2 * n)))
        return select(strategy, pool, anchored_pairs(pool, n_first, rng), n, rng, allow_fewer=True)
    anchors, begun = known[:n_groups], known[n_groups:]
    first = all_pairs(anchors)
    images = np.concatenate([begun, _new_images(strategy, pool, n, rng, width)])
    pairs = np.concatenate([first, _against(pool, images, anchors)])
    is_open = pool.constraints.pair_relations(pairs) == Relation.UNKNOWN
    chosen: Pairs = pairs[is_open & ~_is_passed(pool, pairs)][:n]
    return chosen


def _new_images(
    strategy: QueryStrategy, pool: Pool, n: int, rng: np.random.Generator, width: int
) -> Indexes:
    """Return images nothing is known of, in the order of their best-scored pair, then others."""
    n_groups = pool.probabilities.shape[1]
    pairs = anchored_pairs(pool, width * n, rng, max_groups=n_groups)
    chosen = select(strategy, pool, pairs, len(pairs), rng, allow_fewer=True)
    rest = select(Random(), pool, pairs, n, rng, allow_fewer=True)
    is_known = known_groups(pool.constraints).is_linked
    images = np.concatenate([chosen, rest]).ravel()
    images = images[~is_known[images]]
    if not len(images):  # all that were drawn are placed already
        bad = np.fromiter(pool.constraints.bad_images, dtype=np.intp)
        return rng.permutation(np.setdiff1d(np.flatnonzero(~is_known), bad))[:n]
    first_seen: Indexes = images[np.sort(np.unique(images, return_index=True)[1])]
    return first_seen


def _against(pool: Pool, images: Indexes, anchors: Indexes) -> Pairs:
    """Return each image with each anchor, image by image, the nearest group first."""
    groups = known_groups(pool.constraints)
    means = (groups.sums(pool.embeddings) / groups.sizes[:, None])[groups.of[anchors]]
    away: Floats = np.square(means).sum(axis=1) - 2 * pool.embeddings[images] @ means.T
    nearest_first = anchors[np.argsort(away, axis=1, kind="stable")]
    pairs = np.stack([np.repeat(images, len(anchors)), nearest_first.ravel()], axis=1)
    return np.sort(pairs, axis=1)


def _is_passed(pool: Pool, pairs: Pairs) -> Mask:
    """Return which pairs nobody could tell of late."""
    return np.array([tuple(pair) in pool.passed for pair in pairs.tolist()], dtype=bool)
