"""From the state of a method to its next questions: candidates, strategy, the one selector."""

from types import SimpleNamespace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import CANNOT_TELL, Question
from likewise.errors import UnknownNameError
from likewise.queries.base import Pool, QueryStrategy, Random, join_views, select
from likewise.queries.batch import BatchConstraints
from likewise.queries.candidates import all_pairs, placing_pairs, random_pairs
from likewise.queries.occ import SimilarityChange
from likewise.queries.registry import make_strategy
from likewise.seeds import stream
from likewise.types import Pairs

Floats = npt.NDArray[np.floating]
Candidates = Literal["random", "anchored", "anchored-wide"]
CANDIDATES: tuple[Candidates, ...] = get_args(Candidates)
_WIDE = 10  # new images for each question, among which the strategy chooses; else 1
_ALL_UP_TO = 300  # images: every pair is a candidate below, a sample of them above
_SAMPLE = 20_000
_AT_ONCE = 20  # answers after which anchored questions are chosen anew
_SOON = 50  # answers during which a "can't tell" pair is not asked again


class Asker:
    """Chooses the questions of one method; its draws are named, so a resume repeats them.

    Parameters
    ----------
    settings : SimpleNamespace
        Of the method; `strategy` (name or object), `candidates` and
        `initial_questions` are read.
    graph : ConstraintGraph
    seed : int
    """

    def __init__(self, settings: SimpleNamespace, graph: ConstraintGraph, seed: int) -> None:
        chosen = getattr(settings, "strategy", None) or "random"
        self.strategy: QueryStrategy = make_strategy(chosen) if isinstance(chosen, str) else chosen
        self.initial: int = getattr(settings, "initial_questions", 0)
        self.rule: str = getattr(settings, "candidates", "random")
        if self.rule not in CANDIDATES:
            raise UnknownNameError("rule for candidates", self.rule, CANDIDATES)
        self.graph, self.seed = graph, seed
        self.n_calls = 0  # so that every call draws anew, also after a resume
        self.n_asked = 0
        self.n_heard = 0  # answers, for methods whose questions need not be answered
        self.budget = 0
        self.rows: Floats | None = None  # (n, d), the embeddings that strategies compare
        self.previous: Floats | None = None  # the same, one cycle earlier

    # -- what is remembered ---------------------------------------------------

    def remember(self, indexes: npt.NDArray[np.intp], rows: Floats) -> None:
        """Keep the newest embeddings of some images, n x d numbers in all, never n x n."""
        if self.rows is None or self.rows.shape[1] != rows.shape[1]:
            self.rows = np.zeros((self.graph.n_images, rows.shape[1]), dtype=np.float32)
            self.previous = None
        self.rows[indexes] = unit(rows)

    def turn(self) -> None:
        """Begin a new cycle: what is remembered now becomes the previous embeddings."""
        self.previous = None if self.rows is None else self.rows.copy()

    # -- questions ------------------------------------------------------------

    def ask(self, n: int, probabilities: Floats) -> list[Question]:
        """Return the `n` best open pairs of the collection as questions."""
        rng, pool = self._draw(), self._pool(probabilities)
        chosen = self._first(pool, n, rng)
        if self.rule != "random" and len(chosen) < n:
            width = _WIDE if self.rule == "anchored-wide" else 1
            chosen = followed(chosen, placing_pairs(self._rule, pool, n, rng, width=width), n)
        if len(chosen) < n:  # few images, or all placed: whatever else is open
            more = select(self._rule, pool, self._candidates(n, rng), n, rng)
            chosen = followed(chosen, more, n)
        return self._questions(chosen)

    @property
    def at_once(self) -> int | None:
        """Return after how many answers to choose anew where an oracle answers; None: whenever."""
        return None if self.rule == "random" else _AT_ONCE

    def ask_what_is_left(self, n: int, probabilities: Floats) -> list[Question]:
        """Return at most `n` open pairs, whatever their score."""
        rng, pool = self._draw(), self._pool(probabilities)
        pairs = self._candidates(n, rng)
        return self._questions(select(Random(), pool, pairs, n, rng, allow_fewer=True))

    def ask_first(self, probabilities: Floats) -> list[Question]:
        """Return the random questions that come before all others, as far as they are due."""
        rng, pool = self._draw(), self._pool(probabilities)
        return self._questions(self._first(pool, self.budget, rng))

    def ask_in(
        self,
        indexes: npt.NDArray[np.intp],
        n: int,
        views: tuple[Floats, Floats],
        probabilities: Floats,
    ) -> list[Question]:
        """Return up to `n` questions between the images of one batch."""
        inside = BatchConstraints(self.graph, indexes)
        # CSD compares with what is remembered, so its rows are averaged as those are; for all
        # others the similarities of the two views are averaged.
        is_csd = isinstance(self.strategy, SimilarityChange)
        pool = Pool(
            unit(views[0] + views[1]) if is_csd else join_views(*views),
            probabilities,
            inside,
            previous=None if self.previous is None else self.previous[indexes],
            remaining=self._remaining,
            passed=inside.in_batch(recently_passed(self.graph)),
            views=views,
        )
        rng, pairs = self._draw(), all_pairs(np.arange(len(indexes)))
        chosen = select(self._rule, pool, pairs, n, rng, allow_fewer=True)
        return self._questions(inside.in_collection(chosen))

    # -- inside ---------------------------------------------------------------

    def _first(self, pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
        """Return pairs of the collection, drawn evenly, while `initial` are not asked yet."""
        n_due = min(self.initial - self.n_asked, n)
        if n_due <= 0:
            return np.empty((0, 2), dtype=np.intp)
        return select(Random(), pool, self._candidates(n_due, rng), n_due, rng, allow_fewer=True)

    @property
    def _rule(self) -> QueryStrategy:
        # CSD compares two cycles: before the second there is nothing to compare.
        too_early = isinstance(self.strategy, SimilarityChange) and self.previous is None
        return Random() if too_early else self.strategy

    @property
    def _remaining(self) -> float:
        return max(1.0 - self.n_asked / self.budget, 0.0) if self.budget else 1.0

    def _draw(self) -> np.random.Generator:
        self.n_calls += 1
        return stream(self.seed, "ask", self.n_calls)

    def _pool(self, probabilities: Floats) -> Pool:
        assert self.rows is not None  # `_assign` remembers all images before anything is asked
        return Pool(
            self.rows,
            probabilities,
            self.graph,
            previous=self.previous,
            remaining=self._remaining,
            passed=recently_passed(self.graph),
        )

    def _questions(self, pairs: Pairs) -> list[Question]:
        self.n_asked += len(pairs)
        return [Question.pair(int(i), int(j)) for i, j in pairs]

    def _candidates(self, n: int, rng: np.random.Generator) -> Pairs:
        n_images = self.graph.n_images
        if n_images <= _ALL_UP_TO:
            return all_pairs(np.arange(n_images))
        return random_pairs(n_images, max(_SAMPLE, 4 * n), rng)


def unit(rows: Floats) -> Floats:
    """Return `rows` at length one; a row of zeros stays zero."""
    scaled: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-12)
    return scaled


def followed(pairs: Pairs, more: Pairs, n: int) -> Pairs:
    """Return `pairs` and those of `more` that are not among them, `n` at most.

    Of every pair the smaller index comes first.
    """
    known = {tuple(pair) for pair in pairs.tolist()}
    is_new = np.array([tuple(pair) not in known for pair in more.tolist()], dtype=bool)
    return np.concatenate([pairs, more[is_new]])[:n]


def recently_passed(graph: ConstraintGraph) -> frozenset[tuple[int, int]]:
    """Return the pairs answered "can't tell" among the last answers."""
    recent = list(graph.answers.values())[-_SOON:]
    return frozenset(
        (a.question.images[0], a.question.images[1])
        for a in recent
        if a.question.kind == "pair" and a.answer == CANNOT_TELL
    )
