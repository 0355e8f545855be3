"""What a strategy may look at, and how scores become questions."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from likewise.constraints.relation import Indexes, Pairs, Relation, Relations
from likewise.errors import InvalidParameterError, PoolExhaustedError
from likewise.queries.codes import decode, distinct, encode

Floats = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]


class Constraints(Protocol):
    """What `queries` needs of a `ConstraintGraph`, or of one batch of it (``batch.py``)."""

    @property
    def n_images(self) -> int:
        """How many images there are."""

    @property
    def bad_images(self) -> Collection[int]:
        """Images that somebody called bad; never asked about."""

    def pair_relations(self, pairs: Pairs) -> Relations:
        """Return what is given or implied of each pair."""

    def groups(self) -> Indexes:
        """Return the group of each image."""

    def apart(self) -> Pairs:
        """Return the pairs of groups known to be different."""


@dataclass(frozen=True)
class Pool:
    """The state of the work at one moment, as a strategy sees it; no labels in it.

    Parameters
    ----------
    embeddings : array of shape (n, d)
        Unit rows. Where there are two augmented views of each image, the two side by
        side (see `join_views`).
    probabilities : array of shape (n, k)
        Soft assignments; rows sum to one.
    constraints : ConstraintGraph, or BatchConstraints
    previous : array of shape (n, d), optional
        The embeddings one cycle earlier, for strategies that look at change.
    remaining : float
        Share of the budget that is left, 1 at the start: the papers' ``r``.
    passed : frozenset of pairs
        Pairs that were answered "can't tell" of late; not to be asked again soon.
    views : two arrays of shape (n, d), optional
        The two views apart, for the one rule that compares them (``joint-authors``).
    """

    embeddings: Floats
    probabilities: Floats
    constraints: Constraints
    previous: Floats | None = None
    remaining: float = 1.0
    passed: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    views: tuple[Floats, Floats] | None = None

    def __post_init__(self) -> None:
        n = self.constraints.n_images
        for name in ("embeddings", "probabilities", "previous"):
            rows: Floats | None = getattr(self, name)
            if rows is not None and (rows.ndim != 2 or len(rows) != n):
                raise InvalidParameterError(
                    f"{name} of shape {rows.shape} do not fit the {n} images of the constraints; "
                    f"give one row for each image, ({n}, d)."
                )
        if not 0 <= self.remaining <= 1:
            raise InvalidParameterError(
                f"remaining={self.remaining} is no share of a budget; give a number from 0 to 1."
            )


def join_views(first: Floats, second: Floats) -> Floats:
    """Return unit rows whose products are the mean of the two views' similarities.

    ``[a, b] / sqrt(2)`` has ``x_i @ x_j == (a_i @ a_j + b_i @ b_j) / 2``: every strategy
    then averages over the views, as the papers ask, without knowing of them.
    """
    joined: Floats = np.concatenate([first, second], axis=1) * np.sqrt(0.5, dtype=first.dtype)
    return joined


class QueryStrategy(Protocol):
    """A strategy only scores; `select` alone knows what is open and how ties fall.

    With a class attribute ``is_drawn = True`` its scores are logarithms of weights, and pairs
    are drawn by these instead of taken from the highest on.
    """

    def score(self, pool: Pool, pairs: Pairs) -> Floats:
        """Return one score for each pair ``(m, 2)``; the highest is asked first.

        ``-inf`` means: never ask this one.
        """


def select(
    strategy: QueryStrategy,
    pool: Pool,
    candidates: Pairs,
    n: int,
    rng: np.random.Generator,
    *,
    allow_fewer: bool = False,
) -> Pairs:
    """Return the `n` best pairs whose relation does not already follow, best first.

    Ties are broken by `rng`, never by position: the order of the candidates does
    not matter at all, nor do repetitions among them.

    Parameters
    ----------
    strategy : QueryStrategy
    pool : Pool
    candidates : array of shape (m, 2)
    n : int
    rng : numpy.random.Generator
    allow_fewer : bool
        Return what there is when fewer than `n` pairs are open.

    Raises
    ------
    PoolExhaustedError
        If fewer than `n` candidate pairs are still open.
    """
    if n < 0:
        raise InvalidParameterError(f"n={n} questions cannot be asked; ask for 0 or more.")
    proper = _proper(candidates, pool.constraints.n_images)
    pairs = decode(rng.permutation(proper), pool.constraints.n_images)
    pairs = pairs[_is_open(pool, pairs)]
    scores = _scores(strategy, pool, pairs)
    if getattr(strategy, "is_drawn", False):  # Gumbel's trick: a sample without replacement
        scores = scores + rng.gumbel(size=len(scores))
    pairs, scores = pairs[scores > -np.inf], scores[scores > -np.inf]
    if len(pairs) < n and not allow_fewer:
        raise PoolExhaustedError(
            f"{n} questions were asked for but only {len(pairs)} of {len(proper)} candidate "
            "pairs are still open; ask for fewer, or draw more candidates."
        )
    return pairs[best_first(scores, n)]


def _proper(candidates: Pairs, n_images: int) -> Indexes:
    """Return the code of every pair once, without pairs of an image with itself."""
    if len(candidates) and (candidates.min() < 0 or candidates.max() >= n_images):
        wrong = candidates.max() if candidates.max() >= n_images else candidates.min()
        raise InvalidParameterError(
            f"A candidate pair names image {wrong}, but there are {n_images} images, "
            f"0 to {n_images - 1}; draw candidates from these."
        )
    return distinct(encode(candidates[candidates[:, 0] != candidates[:, 1]], n_images))


def _is_open(pool: Pool, pairs: Pairs) -> Mask:
    """Return which pairs nobody settled, passed over, or called bad."""
    n = pool.constraints.n_images
    is_open: Mask = pool.constraints.pair_relations(pairs) == Relation.UNKNOWN
    if bad := list(pool.constraints.bad_images):  # once: a graph goes through its log for them
        is_bad = np.zeros(n, dtype=bool)
        is_bad[bad] = True
        is_open &= ~(is_bad[pairs[:, 0]] | is_bad[pairs[:, 1]])
    if pool.passed:
        passed = np.sort(encode(np.array(list(pool.passed)), n))
        codes = encode(pairs, n)
        place = np.searchsorted(passed, codes).clip(max=len(passed) - 1)
        is_open &= passed[place] != codes
    return is_open


def _scores(strategy: QueryStrategy, pool: Pool, pairs: Pairs) -> Floats:
    """Return the scores, or say what is wrong with them."""
    scores = strategy.score(pool, pairs)
    if scores.shape != (len(pairs),):
        raise InvalidParameterError(
            f"{type(strategy).__name__} gave scores of shape {scores.shape} for {len(pairs)} "
            f"pairs; a strategy returns one number for each pair, ({len(pairs)},)."
        )
    if np.isnan(scores).any():
        raise InvalidParameterError(
            f"{type(strategy).__name__} scored {int(np.isnan(scores).sum())} pairs NaN; look for "
            "NaN in the embeddings and probabilities of the pool."
        )
    return scores


def best_first(scores: Floats, n: int) -> Indexes:
    """Return the positions of the `n` highest scores, without sorting all of them."""
    best = np.argpartition(-scores, n)[:n] if n < len(scores) else np.arange(len(scores))
    order = np.argsort(-scores[best], kind="stable")
    return best[order]
