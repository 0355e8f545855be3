"""The query-strategy protocol, the pool it scores, and selection of the best open pairs."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation, Relations
from likewise.errors import InvalidParameterError, PoolExhaustedError
from likewise.types import Indexes, Pairs

FloatArray = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]


class Constraints(Protocol):
    """The methods of `ConstraintGraph` that queries use; also `BatchConstraints`."""

    @property
    def n_images(self) -> int:
        """Number of images."""

    @property
    def bad_images(self) -> Collection[int]:
        """Images answered "bad image"; they are never asked about."""

    def pair_relations(self, pairs: Pairs) -> Relations:
        """Return the given or implied relation of each pair."""

    def groups(self) -> Indexes:
        """Return the group of each image."""

    def cannot_links(self) -> Pairs:
        """Return the pairs of groups connected by a cannot-link."""


@dataclass(frozen=True)
class Pool:
    """State of the clustering as a strategy sees it; it contains no true labels.

    Parameters
    ----------
    embeddings : array of shape (n, d)
        L2-normalised rows. For two augmented views of each image, both concatenated
        (see `join_views`).
    probabilities : array of shape (n, k)
        Soft assignments; rows sum to one.
    constraints : ConstraintGraph or BatchConstraints
    previous : array of shape (n, d), optional
        The embeddings of the previous cycle, for strategies that measure change.
    remaining : float
        Remaining fraction of the budget, 1 at the start: the papers' ``r``.
    passed : frozenset of pairs
        Pairs recently answered "can't tell"; they are not selected.
    views : two arrays of shape (n, d), optional
        The two views separately, for ``joint-authors``, which compares them.
    """

    embeddings: FloatArray
    probabilities: FloatArray
    constraints: Constraints
    previous: FloatArray | None = None
    remaining: float = 1.0
    passed: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    views: tuple[FloatArray, FloatArray] | None = None

    def __post_init__(self) -> None:
        n = self.constraints.n_images
        for name in ("embeddings", "probabilities", "previous"):
            rows: FloatArray | None = getattr(self, name)
            if rows is not None and (rows.ndim != 2 or len(rows) != n):
                raise InvalidParameterError(
                    f"{name} must have one row per image, shape ({n}, d), got shape {rows.shape}."
                )
        if not 0 <= self.remaining <= 1:
            raise InvalidParameterError(f"remaining must be between 0 and 1, got {self.remaining}.")


def join_views(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return unit rows whose dot products are the mean of the two views' similarities.

    ``x = [a, b] / sqrt(2)`` gives ``x_i @ x_j == (a_i @ a_j + b_i @ b_j) / 2``, so every
    strategy averages over the views, as in the papers, without handling views itself.
    """
    joined: FloatArray = np.concatenate([first, second], axis=1) * np.sqrt(0.5, dtype=first.dtype)
    return joined


class QueryStrategy(Protocol):
    """A strategy scores pairs; `select` excludes known pairs and breaks ties.

    A strategy is a frozen dataclass of its parameters. If it has the class attribute
    ``is_drawn = True``, its scores are log weights, and pairs are sampled with these weights
    instead of taken in order of score. With ``compares_cycles = True`` it needs `Pool.previous`.
    """

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return a score for each pair ``(m, 2)``; the highest is asked first.

        Scores are float64 without NaN, do not depend on the order of the pairs, and may be empty. A
        pair with score ``-inf`` is never asked.
        """


@dataclass(frozen=True)
class Random:
    """Random selection: all scores are equal, and `select` breaks ties at random.

    Notes
    -----
    Uniform over the open candidate pairs. *Fidelity:* PCL's authors draw from the answered
    pairs and the diagonal instead, which spends answers on known relations; not reproduced.
    """

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        """Return zero for each pair."""
        return np.zeros(len(pairs))


def select(
    strategy: QueryStrategy,
    pool: Pool,
    candidates: Pairs,
    n: int,
    rng: np.random.Generator,
    *,
    allow_fewer: bool = False,
) -> Pairs:
    """Return the `n` best pairs whose relation is not known yet, best first.

    Ties are broken by `rng`: neither the order of the candidates nor repetitions among
    them change the result.

    Parameters
    ----------
    strategy : QueryStrategy
    pool : Pool
    candidates : array of shape (m, 2)
    n : int
    rng : numpy.random.Generator
    allow_fewer : bool
        Return fewer pairs if fewer than `n` are open.

    Raises
    ------
    PoolExhaustedError
        If fewer than `n` candidate pairs are open.
    """
    if n < 0:
        raise InvalidParameterError(f"n must be >= 0, got {n}.")
    codes = _candidate_codes(candidates, pool.constraints.n_images)
    pairs = decode_pairs(rng.permutation(codes), pool.constraints.n_images)
    pairs = pairs[_is_open(pool, pairs)]
    scores = _checked_scores(strategy, pool, pairs)
    if getattr(strategy, "is_drawn", False):  # Gumbel top-k: sampling without replacement
        scores = scores + rng.gumbel(size=len(scores))
    pairs, scores = pairs[scores > -np.inf], scores[scores > -np.inf]
    if len(pairs) < n and not allow_fewer:
        raise PoolExhaustedError(
            f"{n} questions were asked for but only {len(pairs)} of {len(codes)} candidate "
            "pairs are open; ask for fewer, or draw more candidates."
        )
    return pairs[best_first(scores, n)]


def best_first(scores: FloatArray, n: int) -> Indexes:
    """Return the positions of the `n` highest scores, without sorting all of them."""
    best = np.argpartition(-scores, n)[:n] if n < len(scores) else np.arange(len(scores))
    order = np.argsort(-scores[best], kind="stable")
    return best[order]


def encode_pairs(pairs: Pairs, n_images: int) -> Indexes:
    """Return an integer code for each pair, the same for (i, j) and (j, i), shape (m,)."""
    first, second = pairs[:, 0], pairs[:, 1]
    return np.minimum(first, second) * n_images + np.maximum(first, second)


def decode_pairs(codes: Indexes, n_images: int) -> Pairs:
    """Return the sorted pair of each code, shape (m, 2)."""
    first = codes // n_images
    return np.stack([first, codes - first * n_images], axis=1)


def sorted_unique(values: Indexes) -> Indexes:
    """Return the sorted distinct values; much faster than `numpy.unique` for a million."""
    values = np.sort(values)
    is_new = np.ones(len(values), dtype=bool)
    is_new[1:] = values[1:] != values[:-1]
    return values[is_new]


def _candidate_codes(candidates: Pairs, n_images: int) -> Indexes:
    """Return the code of every distinct pair, without pairs of an image with itself."""
    if len(candidates) and (candidates.min() < 0 or candidates.max() >= n_images):
        wrong = candidates.max() if candidates.max() >= n_images else candidates.min()
        raise InvalidParameterError(
            f"Candidate pairs must contain image indexes from 0 to {n_images - 1}, got {wrong}."
        )
    return sorted_unique(encode_pairs(candidates[candidates[:, 0] != candidates[:, 1]], n_images))


def _is_open(pool: Pool, pairs: Pairs) -> Mask:
    """Return which pairs have no known relation, were not skipped, and have no bad image."""
    n = pool.constraints.n_images
    is_open: Mask = pool.constraints.pair_relations(pairs) == Relation.UNKNOWN
    if bad := list(pool.constraints.bad_images):  # read once: a graph scans its log for them
        is_bad = np.zeros(n, dtype=bool)
        is_bad[bad] = True
        is_open &= ~(is_bad[pairs[:, 0]] | is_bad[pairs[:, 1]])
    if pool.passed:
        passed = np.sort(encode_pairs(np.array(list(pool.passed)), n))
        codes = encode_pairs(pairs, n)
        position = np.searchsorted(passed, codes).clip(max=len(passed) - 1)
        is_open &= passed[position] != codes
    return is_open


def _checked_scores(strategy: QueryStrategy, pool: Pool, pairs: Pairs) -> FloatArray:
    """Return the strategy's scores; raise if their shape is wrong or they contain NaN."""
    scores = strategy.score(pool, pairs)
    if scores.shape != (len(pairs),):
        raise InvalidParameterError(
            f"{type(strategy).__name__}.score must return shape ({len(pairs)},), one score per "
            f"pair, got {scores.shape}."
        )
    if np.isnan(scores).any():
        raise InvalidParameterError(
            f"{type(strategy).__name__}.score returned NaN for {int(np.isnan(scores).sum())} "
            "pairs; check the embeddings and probabilities of the pool for NaN."
        )
    return scores


@dataclass(frozen=True)
class BatchConstraints:
    """The constraint graph restricted to the images of a batch, as of its first access.

    Use it in a `Pool` of the batch's own embeddings; every strategy then works inside the
    batch, as in the papers. `in_collection` converts the selected pairs back.

    Parameters
    ----------
    graph : ConstraintGraph
        Over the whole collection.
    indexes : array of shape (b,)
        The images of the batch; in this class they are numbered from 0 to b - 1.
    """

    graph: ConstraintGraph
    indexes: Indexes

    @property
    def n_images(self) -> int:
        """Number of images in the batch."""
        return len(self.indexes)

    @cached_property
    def bad_images(self) -> Collection[int]:
        """The bad images of the batch."""
        is_bad = np.isin(self.indexes, list(self.graph.bad_images))
        return frozenset(np.flatnonzero(is_bad).tolist())

    @cached_property
    def matrix(self) -> Relations:
        """Given and implied relations within the batch, shape (b, b), zero diagonal."""
        return self.graph.relations(self.indexes)

    def pair_relations(self, pairs: Pairs) -> Relations:
        """Return the given or implied relation of each pair of the batch."""
        return self.matrix[pairs[:, 0], pairs[:, 1]]

    def groups(self) -> Indexes:
        """Return the group of each image of the batch, identified by its first member."""
        is_same = (self.matrix == Relation.SAME) | np.eye(self.n_images, dtype=bool)
        first: Indexes = is_same.argmax(axis=1)
        return first

    def cannot_links(self) -> Pairs:
        """Return the pairs of groups connected by a cannot-link."""
        groups = self.groups()
        is_first = groups == np.arange(self.n_images)  # one row per group is enough
        is_different = np.triu(self.matrix == Relation.DIFFERENT) & is_first & is_first[:, None]
        return np.argwhere(is_different)

    def in_batch(self, pairs: Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        """Return the pairs of the collection that lie in the batch, as positions in the batch."""
        position = {image: place for place, image in enumerate(self.indexes.tolist())}
        inside = ((position[i], position[j]) for i, j in pairs if i in position and j in position)
        return frozenset((min(pair), max(pair)) for pair in inside)

    def in_collection(self, pairs: Pairs) -> Pairs:
        """Return pairs of the batch as sorted pairs of the collection."""
        return np.sort(self.indexes[pairs], axis=1)
