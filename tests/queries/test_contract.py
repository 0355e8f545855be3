"""Contract tests for every strategy; add a line for a new strategy."""

import dataclasses
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import BAD_IMAGE, Answer, Question, Relation
from likewise.errors import PoolExhaustedError
from likewise.queries.base import Pool, QueryStrategy, Random, select
from likewise.queries.candidates import all_pairs
from likewise.queries.density import RepresentativeDifficult, TypiClust
from likewise.queries.occ import Entropy, SimilarityChange, SqrtLoss
from likewise.queries.pcl import ConnectedJoint, HardPairs, Joint, UncertainPairs
from likewise.queries.registry import STRATEGIES as BY_NAME
from likewise.queries.registry import strategy_class
from likewise.queries.uncertainty import MarginDiversity, Uncertainty
from likewise.random_streams import stream
from likewise.types import Pairs

MakePool = Callable[..., Pool]
SAME, DIFFERENT = Relation.SAME, Relation.DIFFERENT
CANDIDATES = all_pairs(np.arange(8))  # 28 pairs

STRATEGIES: list[QueryStrategy] = [
    Random(),
    Uncertainty(),
    Entropy(),
    SimilarityChange(),
    UncertainPairs(),
    HardPairs(),
    HardPairs("eq7"),
    Joint(),
    Joint(hard="eq7"),
    ConnectedJoint(),
    ConnectedJoint(connect=0.0),
    TypiClust(),
    TypiClust(n_neighbours=1),
    MarginDiversity(),
    MarginDiversity(shortlist=3),
    RepresentativeDifficult(),
    SqrtLoss(),
    SqrtLoss(power=1.0),
]


def ask_all(strategy: QueryStrategy, pool: Pool, candidates: Pairs, seed: int = 1) -> Pairs:
    return select(strategy, pool, candidates, 28, stream(seed), allow_fewer=True)


def as_set(pairs: Pairs) -> set[tuple[int, int]]:
    return {(int(i), int(j)) for i, j in pairs}


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
class TestEveryStrategy:
    def test_is_a_frozen_dataclass_of_its_parameters(self, strategy: QueryStrategy) -> None:
        assert dataclasses.is_dataclass(type(strategy))
        with pytest.raises(FrozenInstanceError):
            setattr(strategy, "anything", 1)  # noqa: B010

    def test_each_pair_has_one_score(self, strategy: QueryStrategy, pool: Pool) -> None:
        for m in (28, 5, 1, 0):
            scores = strategy.score(pool, CANDIDATES[:m])
            assert scores.shape == (m,)
            assert scores.dtype == np.float64
            assert not np.isnan(scores).any()

    def test_selects_the_requested_number(self, strategy: QueryStrategy, pool: Pool) -> None:
        pairs = select(strategy, pool, CANDIDATES, 5, stream(1))
        assert pairs.shape == (5, 2)
        assert pairs.dtype == np.intp
        assert len(as_set(pairs)) == 5
        assert (pairs[:, 0] < pairs[:, 1]).all()

    def test_best_comes_first(self, strategy: QueryStrategy, pool: Pool) -> None:
        if getattr(strategy, "is_drawn", False):
            pytest.skip("drawn by its scores, not taken from the highest on; see test_sqrt_loss")
        scores = strategy.score(pool, CANDIDATES)
        asked = select(strategy, pool, CANDIDATES, 6, stream(1))
        of_pair = {(int(i), int(j)): s for (i, j), s in zip(CANDIDATES, scores, strict=True)}
        got = [of_pair[int(i), int(j)] for i, j in asked]
        np.testing.assert_allclose(got, np.sort(scores)[::-1][:6], atol=1e-12)

    def test_pairs_with_a_known_relation_are_not_selected(
        self, strategy: QueryStrategy, make_pool: MakePool
    ) -> None:
        # 0 = 1 = 2 and 3 differ from all: 0 = 2, 0 != 3 and 1 != 3 follow; 22 of 28 are open.
        pool = make_pool(answers=[(0, 1, SAME), (1, 2, SAME), (2, 3, DIFFERENT)])
        known = {(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)}
        backwards = CANDIDATES[:, ::-1]
        itself = np.stack([np.arange(8)] * 2, axis=1)
        candidates = np.concatenate([CANDIDATES, backwards, itself])
        asked = ask_all(strategy, pool, candidates)
        assert len(asked) == len(as_set(asked)) <= 22
        assert not as_set(asked) & known
        assert (asked[:, 0] < asked[:, 1]).all()

    def test_too_few_open_pairs_raise_an_error(
        self, strategy: QueryStrategy, make_pool: MakePool
    ) -> None:
        answers = [(i, i + 1, SAME) for i in range(6)]  # 0 to 6 are one group; 7 is open
        pool = make_pool(answers=answers)
        with pytest.raises(
            PoolExhaustedError,
            match=r"^8 questions were asked for but only \d of 28 candidate pairs are open; "
            "ask for fewer, or draw more candidates",
        ):
            select(strategy, pool, CANDIDATES, 8, stream(1))

    def test_works_when_everything_is_known(
        self, strategy: QueryStrategy, make_pool: MakePool
    ) -> None:
        pool = make_pool(answers=[(i, i + 1, SAME) for i in range(7)])
        assert ask_all(strategy, pool, CANDIDATES).shape == (0, 2)

    def test_pairs_answered_cannot_tell_are_not_selected(
        self, strategy: QueryStrategy, pool: Pool
    ) -> None:
        before = as_set(ask_all(strategy, pool, CANDIDATES))
        first = sorted(before)[0]
        passed = replace(pool, passed=frozenset({first, (6, 7)}))
        assert as_set(ask_all(strategy, passed, CANDIDATES)) == before - {first, (6, 7)}

    def test_bad_images_are_not_selected(self, strategy: QueryStrategy, pool: Pool) -> None:
        assert isinstance(pool.constraints, ConstraintGraph)
        pool.constraints.tell(Answer(Question.label(3), BAD_IMAGE))
        assert 3 not in ask_all(strategy, pool, CANDIDATES)

    def test_the_order_of_the_candidates_changes_nothing(
        self, strategy: QueryStrategy, pool: Pool
    ) -> None:
        first = select(strategy, pool, CANDIDATES, 5, stream(7))
        again = select(strategy, pool, stream(2).permutation(CANDIDATES), 5, stream(7))
        np.testing.assert_array_equal(first, again)

    def test_ties_are_broken_at_random_and_not_by_position(
        self, strategy: QueryStrategy, make_pool: MakePool
    ) -> None:
        alike = np.tile([0.6, 0.8], (8, 1))
        pool = replace(
            make_pool(),
            embeddings=alike,
            previous=np.eye(8),  # all similarities rose from 0 to 1
            probabilities=np.full((8, 3), 1 / 3),
            views=(alike, alike),
        )
        asked = [
            as_set(select(strategy, pool, CANDIDATES, 1, stream(seed))).pop() for seed in range(30)
        ]
        assert len(set(asked)) > 8

    def test_the_pool_is_not_changed(self, strategy: QueryStrategy, pool: Pool) -> None:
        assert pool.previous is not None
        arrays = [pool.embeddings, pool.probabilities, pool.previous, CANDIDATES]
        copies = [array.copy() for array in arrays]
        select(strategy, pool, CANDIDATES, 3, stream(1))
        for array, copy in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(array, copy)


def test_every_registered_strategy_is_tested() -> None:
    assert {type(strategy) for strategy in STRATEGIES} == {
        type(strategy_class(key)()) for key in BY_NAME
    }
