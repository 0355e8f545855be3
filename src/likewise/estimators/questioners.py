"""PairQuestioner and LabelQuestioner: the pairs, or the images, that a deep method asks about."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import CANNOT_TELL, Answer, Question
from likewise.errors import PoolExhaustedError, UnknownNameError
from likewise.estimators.parts import Prediction, QueryState, Questioner, State
from likewise.queries.base import (
    BatchConstraints,
    FloatArray,
    Pool,
    QueryStrategy,
    Random,
    join_views,
    select,
)
from likewise.queries.candidates import all_pairs, placing_pairs, random_pairs
from likewise.queries.density import N_CANDIDATES, difficult, quotas, representatives, shares
from likewise.random_streams import stream
from likewise.types import Floats, Indexes, Pairs

if TYPE_CHECKING:
    from likewise.estimators.deep.dsac_targets import Clusters

Candidates = Literal["random", "anchored", "anchored-wide"]
CANDIDATES: tuple[Candidates, ...] = get_args(Candidates)
RECENT = 50  # answers during which a "can't tell" question is not asked again
_WIDE_FACTOR = 10  # new images for each question with "anchored-wide"; else 1
_ALL_PAIRS_UP_TO = 300  # images: every pair is a candidate up to here, a sample above
_N_SAMPLED = 20_000
_ASK_AGAIN_AFTER = 20  # answers after which anchored questions are selected again


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

    supports_batch_queries: bool = True

    def __init__(
        self,
        strategy: str | QueryStrategy = "random",
        candidates: Candidates = "random",
        initial_questions: int = 0,
    ) -> None:
        if candidates not in CANDIDATES:
            raise UnknownNameError("rule for candidates", candidates, CANDIDATES)
        self.strategy: QueryStrategy = _strategy(strategy)
        self.candidates = candidates
        self.initial_questions = initial_questions
        self.ask_again_after = None if candidates == "random" else _ASK_AGAIN_AFTER
        self.n_calls: int = 0
        self.rows: FloatArray | None = None  # (n, d), unit rows that strategies compare
        self.previous: FloatArray | None = None  # the same, one cycle earlier

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
        """Store the new rows of all images; the current ones become those of the last cycle."""
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
        views: tuple[FloatArray, FloatArray],
        probabilities: FloatArray,
        state: QueryState,
    ) -> list[Question]:
        """Return up to `n` questions about pairs of images of one batch."""
        constraints = BatchConstraints(state.constraints, indexes)
        # CSD compares with remembered rows, which are means of both views; for all others
        # the similarities of the two views are averaged.
        is_csd = getattr(self.strategy, "compares_cycles", False)
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
        """Begin a new cycle: the current rows become those of the last cycle."""
        self.previous = None if self.rows is None else self.rows.copy()

    def remember(self, indexes: Indexes, rows: FloatArray) -> None:
        """Store the newest rows of some images: n x d numbers in all, never n x n."""
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
        too_early = getattr(self.strategy, "compares_cycles", False) and self.previous is None
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


def unit_rows(rows: FloatArray) -> FloatArray:
    """Return `rows` scaled to length one; a row of zeros stays zero."""
    scaled: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-12)
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


Mask = npt.NDArray[np.bool_]
SELECTIONS = ("full", "random", "difficult", "representative")
_ONLY: dict[str, Literal["representative", "difficult"] | None] = {
    "full": None,
    "difficult": "difficult",
    "representative": "representative",
}


class LabelQuestioner(Questioner):
    """Asks for the labels of images that are chosen cluster by cluster.

    Parameters
    ----------
    clusters : callable
        Returns the embeddings of all images and their clusters.
    selection : {"full", "random", "difficult", "representative"}
    n_candidates : int
        Images of each cluster and kind, of which the most compact are chosen.
    """

    def __init__(
        self,
        clusters: "Callable[[], tuple[Floats, Clusters]]",
        selection: str = "full",
        n_candidates: int = N_CANDIDATES,
    ) -> None:
        self._clusters, self._selection, self._n_candidates = clusters, selection, n_candidates
        self.n_calls: int = 0

    def propose(self, n: int, state: QueryState, *, allow_fewer: bool = False) -> list[Question]:
        """Return the `n` images whose labels are most useful.

        Raises
        ------
        PoolExhaustedError
            If fewer images have no label, unless `allow_fewer`.
        """
        if not allow_fewer:
            check_open(state.constraints, n)
        rows, found = self._clusters()
        call, self.n_calls = self.n_calls, self.n_calls + 1
        chosen = choose_images(
            self._selection,
            rows,
            found,
            closed_images(state.constraints),
            n,
            call,
            state.seed,
            n_candidates=self._n_candidates,
        )
        return [Question.label(int(image)) for image in chosen]

    def get_state(self) -> State:
        """Return the number of calls."""
        return {"n_calls": np.array(self.n_calls)}

    def set_state(self, state: State) -> None:
        """Restore the number of calls."""
        self.n_calls = int(state["n_calls"])


def choose_images(
    selection: str,
    rows: Floats,
    found: "Clusters",
    is_closed: Mask,
    n: int,
    call: int,
    seed: int,
    *,
    n_candidates: int = N_CANDIDATES,
) -> Indexes:
    """Return at most `n` open images to label, all different.

    Parameters
    ----------
    selection : {"full", "random", "difficult", "representative"}
    rows : array of shape (n_images, d)
    found : Clusters
    is_closed : array of shape (n_images,)
        Images not to ask about.
    n : int
    call : int
        Number of this call, from 0: where a cluster gets one label, calls alternate
        between representative and difficult images.
    seed : int
    n_candidates : int
        Of each cluster and kind, :math:`k_1`; the most compact of them are chosen.
    """
    open_images = np.flatnonzero(~is_closed)
    if selection == "random":
        rng = stream(seed, "label at random", call)
        return rng.permutation(open_images)[:n]
    n_open = np.bincount(found.clusters[open_images], minlength=len(found.centres))
    quota = quotas(min(n, len(open_images)), n_open)
    n_near, n_far = shares(quota, call, only=_ONLY[selection])
    near = representatives(
        rows, found.clusters, found.distances, n_near, is_closed, n_candidates=n_candidates
    )
    closed = is_closed.copy()
    closed[near] = True
    far = difficult(rows, found.clusters, found.distances, n_far, closed, n_candidates=n_candidates)
    return np.concatenate([near, far])


def closed_images(graph: ConstraintGraph) -> Mask:
    """Return which images have a label, were passed recently, or are bad, ``(n_images,)``."""
    closed: Mask = np.isin(graph.groups(), list(graph.group_names()))
    recent = list(graph.answers.values())[-RECENT:]
    passed = [a.question.images[0] for a in recent if _is_passed(a)]
    closed[[*graph.bad_images, *passed]] = True
    return closed


def check_open(graph: ConstraintGraph, n: int) -> None:
    """Raise if fewer than `n` images have no label.

    Raises
    ------
    PoolExhaustedError
    """
    n_open = int((~closed_images(graph)).sum())
    if n_open < n:
        raise PoolExhaustedError(
            f"{n} labels were asked for but only {n_open} images have none; ask for fewer."
        )


def _is_passed(answer: Answer) -> bool:
    return answer.question.kind == "label" and answer.answer == CANNOT_TELL
