"""Pair questions: candidates, query strategy, selection of the best open pairs."""

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import CANNOT_TELL, Question
from likewise.errors import UnknownNameError
from likewise.estimators.parts import Prediction, QueryState, Questioner, State
from likewise.queries.base import Pool, QueryStrategy, Random, join_views, select
from likewise.queries.batch import BatchConstraints
from likewise.queries.candidates import all_pairs, placing_pairs, random_pairs
from likewise.random_streams import stream
from likewise.types import Indexes, Pairs

Floats = npt.NDArray[np.floating]
Candidates = Literal["random", "anchored", "anchored-wide"]
CANDIDATES: tuple[Candidates, ...] = get_args(Candidates)
RECENT = 50  # answers during which a "can't tell" question is not asked again
_WIDE_FACTOR = 10  # new images for each question with "anchored-wide"; else 1
_ALL_PAIRS_UP_TO = 300  # images: every pair is a candidate up to here, a sample above
_N_SAMPLED = 20_000
_ASK_AGAIN_AFTER = 20  # answers after which anchored questions are chosen anew


class PairQuestioner(Questioner):
    """Asks whether two images belong to the same cluster.

    Draws are from named random streams, numbered by the call, so that a resumed training
    repeats them.

    Parameters
    ----------
    strategy : str or QueryStrategy
    candidates : {"random", "anchored", "anchored-wide"}
        Which pairs are considered between rounds: any; images drawn at random, each with one
        image of every known group; or the same with ten times as many images to choose from.
    initial_questions : int
        Number of first questions drawn at random.
    """

    supports_batch_queries = True

    def __init__(
        self,
        strategy: str | QueryStrategy = "random",
        candidates: Candidates = "random",
        initial_questions: int = 0,
    ) -> None:
        if candidates not in CANDIDATES:
            raise UnknownNameError("rule for candidates", candidates, CANDIDATES)
        self.strategy = _strategy(strategy)
        self.candidates, self.initial_questions = candidates, initial_questions
        self.ask_again_after = None if candidates == "random" else _ASK_AGAIN_AFTER
        self.n_calls = 0
        self.rows: Floats | None = None  # (n, d), unit rows that strategies compare
        self.previous: Floats | None = None  # the same, one cycle earlier

    # -- between rounds -------------------------------------------------------------

    def propose(self, n: int, state: QueryState, *, allow_fewer: bool = False) -> list[Question]:
        """Return the `n` best open pairs; with `allow_fewer` any open pairs, whatever their score.

        Raises
        ------
        PoolExhaustedError
            If fewer are open.
        """
        rng, pool = self._draw(state), self._pool(state)
        if allow_fewer:
            pairs = self._candidate_pairs(n, state, rng)
            return _questions(select(Random(), pool, pairs, n, rng, allow_fewer=True))
        chosen = self._initial_pairs(n, state, pool, rng)
        if self.candidates != "random" and len(chosen) < n:
            width = _WIDE_FACTOR if self.candidates == "anchored-wide" else 1
            anchored = placing_pairs(self._strategy, pool, n, rng, width=width)
            chosen = append_new(chosen, anchored, n)
        if len(chosen) < n:  # few images, or all are in a known group: any other open pairs
            pairs = self._candidate_pairs(n, state, rng)
            chosen = append_new(chosen, select(self._strategy, pool, pairs, n, rng), n)
        return _questions(chosen)

    def update(self, prediction: Prediction, state: QueryState) -> None:
        """Keep the new rows of all images; the present ones become those of the last cycle."""
        rows = prediction.embeddings if prediction.query_rows is None else prediction.query_rows
        scaled = unit_rows(rows)
        if self.rows is not None and np.array_equal(scaled, self.rows):
            return  # nothing was trained
        self.begin_cycle()
        if self.rows is None or self.rows.shape != rows.shape:
            self.previous = None
        self.rows = scaled.astype(np.float32)

    # -- inside batches ---------------------------------------------------------------

    def propose_initial(self, state: QueryState) -> list[Question]:
        """Return the random questions that come before training with questions in batches."""
        if self.n_calls:
            return []  # resumed: they were asked before
        rng, pool = self._draw(state), self._pool(state)
        return _questions(self._initial_pairs(state.budget, state, pool, rng))

    def propose_in_batch(
        self,
        n: int,
        indexes: Indexes,
        views: tuple[Floats, Floats],
        probabilities: Floats,
        state: QueryState,
    ) -> list[Question]:
        """Return up to `n` questions about pairs of images of one batch."""
        constraints = BatchConstraints(state.constraints, indexes)
        # CSD compares with remembered rows, which are means of both views; for all others
        # the similarities of the two views are averaged.
        is_csd = _compares_cycles(self.strategy)
        pool = Pool(
            unit_rows(views[0] + views[1]) if is_csd else join_views(*views),
            probabilities,
            constraints,
            previous=None if self.previous is None else self.previous[indexes],
            remaining=state.remaining,
            passed=constraints.in_batch(recently_passed(state.constraints)),
            views=views,
        )
        rng, pairs = self._draw(state), all_pairs(np.arange(len(indexes)))
        chosen = select(self._strategy, pool, pairs, n, rng, allow_fewer=True)
        return _questions(constraints.in_collection(chosen))

    def begin_cycle(self) -> None:
        """Begin a new cycle: the present rows become those of the last cycle."""
        self.previous = None if self.rows is None else self.rows.copy()

    def remember(self, indexes: Indexes, rows: Floats) -> None:
        """Keep the newest rows of some images: n x d numbers in all, never n x n."""
        assert self.rows is not None  # see `update`
        self.rows[indexes] = unit_rows(rows)

    # -- on disk -------------------------------------------------------------------------

    def get_state(self) -> State:
        """Return the number of calls and the remembered rows."""
        found: dict[str, Any] = {"rows": self.rows, "previous": self.previous}
        state = {name: rows for name, rows in found.items() if rows is not None}
        return {"n_calls": np.array(self.n_calls), **state}

    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned."""
        self.n_calls = int(state["n_calls"])
        self.rows, self.previous = state.get("rows"), state.get("previous")

    # -- inside --------------------------------------------------------------------------

    @property
    def _strategy(self) -> QueryStrategy:
        # CSD compares two cycles: before the second there is nothing to compare.
        too_early = _compares_cycles(self.strategy) and self.previous is None
        return Random() if too_early else self.strategy

    def _draw(self, state: QueryState) -> np.random.Generator:
        self.n_calls += 1
        return stream(state.seed, "ask", self.n_calls)

    def _pool(self, state: QueryState) -> Pool:
        assert self.rows is not None  # `update` is called before anything is asked
        return Pool(
            self.rows,
            state.probabilities,
            state.constraints,
            previous=self.previous,
            remaining=state.remaining,
            passed=recently_passed(state.constraints),
        )

    def _initial_pairs(
        self, n: int, state: QueryState, pool: Pool, rng: np.random.Generator
    ) -> Pairs:
        """Return random pairs, while fewer than `initial_questions` are asked."""
        n_due = min(self.initial_questions - state.n_asked, n)
        if n_due <= 0:
            return np.empty((0, 2), dtype=np.intp)
        pairs = self._candidate_pairs(n_due, state, rng)
        return select(Random(), pool, pairs, n_due, rng, allow_fewer=True)

    def _candidate_pairs(self, n: int, state: QueryState, rng: np.random.Generator) -> Pairs:
        n_images = state.constraints.n_images
        if n_images <= _ALL_PAIRS_UP_TO:
            return all_pairs(np.arange(n_images))
        return random_pairs(n_images, max(_N_SAMPLED, 4 * n), rng)


def _strategy(strategy: str | QueryStrategy) -> QueryStrategy:
    from likewise.queries.registry import make_strategy

    return make_strategy(strategy) if isinstance(strategy, str) else strategy


def _compares_cycles(strategy: QueryStrategy) -> bool:
    from likewise.queries.occ import SimilarityChange

    return isinstance(strategy, SimilarityChange)


def unit_rows(rows: Floats) -> Floats:
    """Return `rows` scaled to length one; a row of zeros stays zero."""
    scaled: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-12)
    return scaled


def append_new(pairs: Pairs, more: Pairs, n: int) -> Pairs:
    """Return `pairs` and those of `more` that are not among them, at most `n`.

    Of every pair the smaller index comes first.
    """
    known = {tuple(pair) for pair in pairs.tolist()}
    is_new = np.array([tuple(pair) not in known for pair in more.tolist()], dtype=bool)
    return np.concatenate([pairs, more[is_new]])[:n]


def recently_passed(graph: ConstraintGraph) -> frozenset[tuple[int, int]]:
    """Return the pairs that were answered "can't tell" recently."""
    recent = list(graph.answers.values())[-RECENT:]
    return frozenset(
        (a.question.images[0], a.question.images[1])
        for a in recent
        if a.question.kind == "pair" and a.answer == CANNOT_TELL
    )


def _questions(pairs: Pairs) -> list[Question]:
    return [Question.pair(int(i), int(j)) for i, j in pairs]
