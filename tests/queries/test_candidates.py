from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import BAD_IMAGE, Answer, Question
from likewise.constraints.relation import Pairs, Relation
from likewise.errors import InvalidParameterError
from likewise.queries.candidates import (
    _pair_of_code,
    all_pairs,
    anchored_pairs,
    group_representatives,
    near_pairs,
    random_pairs,
)
from likewise.queries.pool import Pool
from likewise.seeds import stream

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

    def test_all_there_are_when_more_are_wanted(self) -> None:
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
            np.testing.assert_array_equal(_pair_of_code(codes), np.stack([first, second], axis=1))

    def test_none_is_too_few(self) -> None:
        with pytest.raises(InvalidParameterError, match="m=0 candidates cannot be drawn"):
            random_pairs(5, 0, stream(0))


class TestAnchoredPairs:
    TOLD = ((0, 1, SAME), (1, 2, SAME), (3, 4, SAME), (2, 5, DIFFERENT))

    def test_each_image_meets_one_representative_of_each_group(self, make_pool: MakePool) -> None:
        pool = make_pool(n=20, told=self.TOLD)
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
        pool = make_pool(n=20, told=self.TOLD)
        anchors = group_representatives(pool).tolist()
        assert anchors[0] in (0, 1, 2)
        assert anchors[1] in (3, 4)
        assert anchors[2:] == [5]
        mean = pool.embeddings[:3].mean(axis=0)
        away = [float(np.linalg.norm(pool.embeddings[i] - mean)) for i in range(3)]
        assert anchors[0] == int(np.argmin(away))

    def test_only_the_largest_groups_are_taken(self, make_pool: MakePool) -> None:
        pool = make_pool(n=20, told=self.TOLD)
        pairs = anchored_pairs(pool, 100, stream(0), max_groups=1)
        anchor = group_representatives(pool)[0]
        assert len(pairs) == 19
        assert (pairs == anchor).any(axis=1).all()
        told = [(2 * i, 2 * i + 1, SAME) for i in range(10)]
        many = anchored_pairs(make_pool(n=30, k=3, told=told), 100, stream(0))
        assert len(many) == 24 * 6 + 15  # twice three clusters

    def test_before_the_first_answer_images_are_spread(self) -> None:
        heaps = np.repeat(np.eye(3), 30, axis=0)
        pool = Pool(heaps, np.full((90, 3), 1 / 3), ConstraintGraph(90))
        pairs = anchored_pairs(pool, 3, stream(0))
        assert sorted((pairs // 30).tolist()) == [[0, 1], [0, 2], [1, 2]]

    def test_bad_images_are_neither_asked_nor_anchors(self, make_pool: MakePool) -> None:
        pool = make_pool(n=20, told=self.TOLD)
        first = int(group_representatives(pool)[0])
        call_bad(pool, first)
        assert first not in group_representatives(pool)
        assert first not in anchored_pairs(pool, 100, stream(0))
        fresh = make_pool(n=5)
        call_bad(fresh, 3)
        assert 3 not in anchored_pairs(fresh, 5, stream(0))

    def test_same_seed_same_candidates(self, make_pool: MakePool) -> None:
        for told in ((), self.TOLD):
            pool = make_pool(n=20, told=told)
            first, again = (anchored_pairs(pool, 5, stream(3)) for _ in range(2))
            np.testing.assert_array_equal(first, again)


class TestNearPairs:
    def test_each_is_an_image_with_one_of_its_nearest(self, make_pool: MakePool) -> None:
        pool = make_pool(n=30)
        pairs = near_pairs(pool, 20, stream(0), k=3)
        assert_proper(pairs, 30)
        assert 10 <= len(pairs) <= 20
        alike = pool.embeddings @ pool.embeddings.T - 2 * np.eye(30)
        place = np.argsort(np.argsort(-alike, axis=1), axis=1)  # 0 the nearest
        assert (
            np.minimum(place[pairs[:, 0], pairs[:, 1]], place[pairs[:, 1], pairs[:, 0]]).max() < 3
        )

    def test_small_collections_and_bad_images(self, make_pool: MakePool) -> None:
        pool = make_pool(n=3)
        call_bad(pool, 1)
        assert near_pairs(pool, 10, stream(0)).tolist() == [[0, 2]]
        call_bad(pool, 0)
        assert near_pairs(replace(pool), 10, stream(0)).shape == (0, 2)
