import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.queries.candidates import all_pairs
from likewise.queries.pool import Pool
from likewise.queries.uncertainty import Uncertainty


def test_a_coin_toss_scores_1_and_a_certainty_0() -> None:
    probabilities = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])
    pool = Pool(np.ones((4, 1)), probabilities, ConstraintGraph(4))
    pairs = np.array([[0, 1], [0, 2], [0, 3]])  # either; surely different; surely the same
    assert Uncertainty().score(pool, pairs).tolist() == [1, 0, 0]


def test_it_is_the_distance_from_one_half_in_a_loop(pool: Pool) -> None:
    pairs = all_pairs(np.arange(8))
    for (i, j), score in zip(pairs, Uncertainty().score(pool, pairs), strict=True):
        p_same = sum(pool.probabilities[i] * pool.probabilities[j])
        assert score == pytest.approx(1 - abs(2 * p_same - 1), abs=1e-12)
