"""Questions that place one image after another among the groups."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import BAD_IMAGE, Answer, Question, Relation
from likewise.errors import InvalidParameterError
from likewise.queries.base import FloatArray, Pool, Random
from likewise.queries.candidates import (
    _decode_triangular,
    all_pairs,
    anchored_pairs,
    group_representatives,
    kmeans_plusplus,
    placing_pairs,
    random_pairs,
)
from likewise.random_streams import stream
from likewise.types import Pairs

SAME, DIFFERENT = Relation.SAME, Relation.DIFFERENT
MakePool = Callable[..., Pool]


def assert_proper(pairs: Pairs, n_images: int) -> None:
    assert pairs.dtype == np.intp
    assert pairs.shape == (len(pairs), 2)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    assert len(pairs) == 0 or (pairs.min() >= 0 and pairs.max() < n_images)


def call_bad(pool: Pool, image: int) -> None:
    assert isinstance(pool.constraints, ConstraintGraph)
    pool.constraints.tell(Answer(Question.label(image), BAD_IMAGE))


def test_all_pairs_of_some_images_in_any_order() -> None:
    assert all_pairs(np.array([7, 2, 5, 2])).tolist() == [[2, 5], [2, 7], [5, 7]]
    assert all_pairs(np.array([3])).shape == (0, 2)


class TestRandomPairs:
    @pytest.mark.parametrize(("n", "m"), [(10, 45), (10, 44), (10, 7), (1000, 5000), (2, 1)])
    def test_as_many_as_wanted_all_distinct(self, n: int, m: int) -> None:
        pairs = random_pairs(n, m, stream(0))
        assert_proper(pairs, n)
        assert len(pairs) == m

    def test_all_are_returned_if_more_are_requested(self) -> None:
        pairs = random_pairs(6, 100, stream(0))
        assert sorted(pairs.tolist()) == all_pairs(np.arange(6)).tolist()
        assert random_pairs(1, 5, stream(0)).shape == (0, 2)

    @pytest.mark.parametrize("m", [3, 20])  # by rejection, by permutation
    def test_every_pair_has_the_same_chance(self, m: int) -> None:
        rng, counts = stream(4), np.zeros((8, 8))
        for _ in range(600):
            pairs = random_pairs(8, m, rng)
            counts[pairs[:, 0], pairs[:, 1]] += 1
        i, j = np.triu_indices(8, k=1)
        expected = 600 * m / 28
        assert ((counts[i, j] - expected) ** 2 / expected).sum() < 55  # p = .001

    def test_no_order_is_left_in_them(self) -> None:
        pairs = random_pairs(100_000, 1000, stream(0))
        assert abs(np.corrcoef(np.arange(1000), pairs[:, 1])[0, 1]) < 0.1

    def test_codes_of_fifty_million_images_are_exact(self) -> None:
        second = np.array([1, 2, 46_341, 999_999, 49_999_999])
        for first in (np.zeros(5, dtype=np.int64), second - 1):
            codes = second * (second - 1) // 2 + first
            np.testing.assert_array_equal(
                _decode_triangular(codes), np.stack([first, second], axis=1)
            )

    def test_none_is_too_few(self) -> None:
        with pytest.raises(InvalidParameterError, match="m must be an integer >= 1, got 0"):
            random_pairs(5, 0, stream(0))


class TestAnchoredPairs:
    ANSWERS = ((0, 1, SAME), (1, 2, SAME), (3, 4, SAME), (2, 5, DIFFERENT))

    def test_each_image_is_paired_with_one_representative_of_each_group(
        self, make_pool: MakePool
    ) -> None:
        pool = make_pool(n=20, answers=self.ANSWERS)
        anchors = group_representatives(pool).tolist()
        pairs = anchored_pairs(pool, 6, stream(0))
        assert_proper(pairs, 20)
        others = set(pairs.ravel().tolist()) - set(anchors)
        assert len(others) == 6
        expected = {(min(i, a), max(i, a)) for i in others for a in anchors}
        expected |= {(i, j) for i, j in all_pairs(np.array(anchors)).tolist()}
        assert {(i, j) for i, j in pairs.tolist()} == expected

    def test_representatives_are_nearest_to_the_mean_largest_group_first(
        self, make_pool: MakePool
    ) -> None:
        pool = make_pool(n=20, answers=self.ANSWERS)
        anchors = group_representatives(pool).tolist()
        assert anchors[0] in (0, 1, 2)
        assert anchors[1] in (3, 4)
        assert anchors[2:] == [5]
        mean = pool.embeddings[:3].mean(axis=0)
        away = [float(np.linalg.norm(pool.embeddings[i] - mean)) for i in range(3)]
        assert anchors[0] == int(np.argmin(away))

    def test_only_the_largest_groups_are_taken(self, make_pool: MakePool) -> None:
        pool = make_pool(n=20, answers=self.ANSWERS)
        pairs = anchored_pairs(pool, 100, stream(0), max_groups=1)
        anchor = group_representatives(pool)[0]
        assert len(pairs) == 19
        assert (pairs == anchor).any(axis=1).all()
        answers = [(2 * i, 2 * i + 1, SAME) for i in range(10)]
        many = anchored_pairs(make_pool(n=30, k=3, answers=answers), 100, stream(0))
        assert len(many) == 24 * 6 + 15  # twice three clusters

    def test_before_the_first_answer_images_are_spread(self) -> None:
        heaps = np.repeat(np.eye(3), 30, axis=0)
        pool = Pool(heaps, np.full((90, 3), 1 / 3), ConstraintGraph(90))
        pairs = anchored_pairs(pool, 3, stream(0))
        assert sorted((pairs // 30).tolist()) == [[0, 1], [0, 2], [1, 2]]

    def test_bad_images_are_neither_asked_nor_anchors(self, make_pool: MakePool) -> None:
        pool = make_pool(n=20, answers=self.ANSWERS)
        first = int(group_representatives(pool)[0])
        call_bad(pool, first)
        assert first not in group_representatives(pool)
        assert first not in anchored_pairs(pool, 100, stream(0))
        fresh = make_pool(n=5)
        call_bad(fresh, 3)
        assert 3 not in anchored_pairs(fresh, 5, stream(0))

    def test_same_seed_same_candidates(self, make_pool: MakePool) -> None:
        for answers in ((), self.ANSWERS):
            pool = make_pool(n=20, answers=answers)
            first, again = (anchored_pairs(pool, 5, stream(3)) for _ in range(2))
            np.testing.assert_array_equal(first, again)


def test_all_are_drawn_once_before_any_is_drawn_again() -> None:
    rows = stream(0).normal(size=(6, 2))
    assert sorted(kmeans_plusplus(rows, 10, stream(1))) == list(range(6))


def test_images_far_apart_are_drawn_first() -> None:
    heaps = np.repeat([[0.0, 0], [100, 0], [0, 100]], 20, axis=0)
    heaps += stream(0).normal(scale=0.01, size=heaps.shape)
    for seed in range(10):
        assert sorted(kmeans_plusplus(heaps, 3, stream(seed)) // 20) == [0, 1, 2]


def test_copies_are_drawn_when_nothing_else_is_left() -> None:
    rows = np.array([[0.0], [0.0], [0.0], [5.0]])
    drawn = kmeans_plusplus(rows, 4, stream(0)).tolist()
    assert 3 in drawn[:2]
    assert sorted(drawn) == [0, 1, 2, 3]


TRIANGLE = [(0, 1, DIFFERENT), (0, 2, DIFFERENT), (1, 2, DIFFERENT)]  # three groups of one image
Answers = Sequence[tuple[int, int, Relation]]


class Prefers:
    """Scores a pair by the images that are wanted."""

    def __init__(self, *images: int) -> None:
        self.images = images

    def score(self, pool: Pool, pairs: np.typing.NDArray[np.intp]) -> FloatArray:
        return np.isin(pairs, self.images).any(axis=1).astype(float)


def asked(pool: Pool, n: int, strategy: object = None, seed: int = 0) -> list[list[int]]:
    rule = strategy or Random()
    found: list[list[int]] = placing_pairs(rule, pool, n, stream(seed)).tolist()  # type: ignore[arg-type]  # a double
    return found


def test_an_image_is_compared_with_every_group_the_nearest_first(make_pool: MakePool) -> None:
    pool = make_pool(n=12, answers=TRIANGLE)
    pairs = asked(pool, 6, Prefers(7))
    away = np.linalg.norm(pool.embeddings[:3] - pool.embeddings[7], axis=1)
    assert pairs[:3] == [[int(group), 7] for group in np.argsort(away)]
    assert len({max(pair) for pair in pairs[3:]}) == 1  # then the next image


def test_partly_assigned_images_come_before_new_ones(make_pool: MakePool) -> None:
    answers = [*TRIANGLE, (0, 5, SAME), (1, 6, SAME), (2, 8, SAME), (0, 9, DIFFERENT)]
    pairs = asked(make_pool(n=12, answers=answers), 2, Prefers(7))
    assert all(9 in pair for pair in pairs)


def test_groups_whose_relation_is_open_are_compared_first(make_pool: MakePool) -> None:
    answers = [(0, 1, SAME), (2, 3, SAME), (4, 5, SAME), (0, 2, DIFFERENT)]
    pool = make_pool(n=12, answers=answers)
    first = asked(pool, 2, Prefers(7))
    assert all({pair[0] // 2, pair[1] // 2} in ({0, 2}, {1, 2}) for pair in first)


def test_before_the_first_answer_a_few_images_meet(make_pool: MakePool) -> None:
    pairs = asked(make_pool(n=40, k=3), 12)
    assert len(pairs) == 12
    assert len({image for pair in pairs for image in pair}) <= 6


@pytest.mark.parametrize("seed", range(6))
def test_pairs_that_are_known_bad_or_recently_passed_are_not_asked(
    make_pool: MakePool, seed: int
) -> None:
    rng = stream(seed)
    truth = rng.integers(3, size=30)
    answers = [
        (int(i), int(j), SAME if truth[i] == truth[j] else DIFFERENT)
        for i, j in rng.integers(30, size=(25, 2))
        if i != j
    ]
    pool = make_pool(n=30, answers=answers, seed=seed)
    graph = pool.constraints
    assert isinstance(graph, ConstraintGraph)
    graph.tell(Answer(Question.label(11), BAD_IMAGE))
    first = asked(pool, 1, seed=seed)[0]
    passed = first[0], first[1]
    pairs = asked(replace(pool, passed=frozenset({passed})), 60, seed=seed)
    assert passed not in {tuple(pair) for pair in pairs}
    assert all(11 not in pair and pair[0] < pair[1] for pair in pairs)
    assert (graph.pair_relations(np.array(pairs)) == 0).all()
    assert len({tuple(pair) for pair in pairs}) == len(pairs)


def test_every_image_is_assigned_after_at_most_k_answers_about_it(
    make_pool: MakePool,
) -> None:
    """With random pairs, most answers are "different" and tie nothing together."""
    pool, truth = make_pool(n=60, k=3), stream(1).integers(3, size=60)
    graph, n_answers = pool.constraints, 0
    assert isinstance(graph, ConstraintGraph)
    while len(pairs := asked(pool, 20, seed=n_answers)):
        for i, j in pairs:
            if graph.relation(i, j) == 0:
                graph.add(i, j, SAME if truth[i] == truth[j] else DIFFERENT)
                n_answers += 1
    assert len(np.unique(graph.groups())) == 3
    assert n_answers <= 3 * 60


def test_same_seed_same_questions(make_pool: MakePool) -> None:
    pool = make_pool(n=40, answers=TRIANGLE)
    assert asked(pool, 10, seed=3) == asked(pool, 10, seed=3) != asked(pool, 10, seed=4)
