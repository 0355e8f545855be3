import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.errors import InvalidParameterError
from likewise.queries.base import Pool
from likewise.queries.candidates import all_pairs
from likewise.types import Pairs
from likewise_bench.baselines.pcl_authors import JointAuthors
from tests.queries import conftest as pools

SAME, DIFFERENT = Relation.SAME, Relation.DIFFERENT
PAIRS = np.array([[0, 2], [0, 3], [1, 4], [2, 5], [3, 6], [5, 7]])
MakePool = Callable[..., Pool]
make_pool, pool = pools.make_pool, pools.pool


def authors_by_loops(pool: Pool, pairs: Pairs) -> list[float]:
    """What METHODS.md 3.4 says the code computes, cell by cell."""
    assert pool.views is not None
    a, b = pool.views
    n = len(a)
    relation = np.zeros((n, n))
    for i, j in all_pairs(np.arange(n)):
        (known,) = pool.constraints.pair_relations(np.array([[i, j]]))
        relation[i, j] = relation[j, i] = known

    def divergence(p: float, q: float) -> float:
        p, q = (min(max(x, 0.001), 0.999) for x in (p, q))
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))

    up, hard = {}, {}
    for i in range(n):
        for j in range(n):
            up[i, j] = -abs((a[i] @ a[j] + b[i] @ b[j]) / 2 - 0.2)
            answered = relation[i, j] * (a[i] @ a[j])
            once, twice = a[i] @ b[j] + answered, a[j] @ b[i] + 2 * answered
            hard[i, j] = -divergence(a[i] @ a[j], once) - divergence(a[i] @ a[j], twice)
    scores = []
    for i, j in pairs.tolist():
        s_up, s_hard = (
            (table[i, j] - min(table.values())) / (max(table.values()) - min(table.values()))
            for table in (up, hard)
        )
        scores.append(math.tanh(s_up) + (1 - pool.remaining) * s_hard)
    return scores


@pytest.mark.parametrize("remaining", [1.0, 0.3, 0.0])
def test_it_equals_the_public_code(make_pool: MakePool, remaining: float) -> None:
    pool = make_pool(answers=[(0, 1, SAME), (2, 4, DIFFERENT)], remaining=remaining)
    pairs = all_pairs(np.arange(8))  # answered ones too: their cells set the range
    scores = JointAuthors().score(pool, pairs)
    np.testing.assert_allclose(scores, authors_by_loops(pool, pairs), atol=1e-10)


def test_answers_reach_an_open_pair_through_the_range_only(make_pool: MakePool) -> None:
    """The defect that `s-hp` does not have: the order of open pairs never changes."""
    plain, answered = (
        JointAuthors().score(make_pool(answers=answers, remaining=0.0), PAIRS)
        - JointAuthors().score(make_pool(answers=answers, remaining=1.0), PAIRS)
        for answers in ([], [(0, 1, SAME), (2, 4, DIFFERENT)])
    )
    assert np.argsort(plain).tolist() == np.argsort(answered).tolist()


def test_without_two_views_the_hard_term_prefers_nothing(pool: Pool) -> None:
    alone = replace(pool, views=None)
    late, early = (JointAuthors().score(replace(alone, remaining=r), PAIRS) for r in (0.0, 1.0))
    assert np.ptp(late - early) < 1e-12


def test_a_whole_collection_raises_an_error() -> None:
    n = 5_000
    pool = Pool(np.zeros((n, 1)), np.zeros((n, 1)), ConstraintGraph(n))
    with pytest.raises(
        InvalidParameterError, match="needs batches of at most 4096 images, got 5000"
    ):
        JointAuthors().score(pool, PAIRS)
