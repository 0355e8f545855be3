from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import InvalidParameterError
from likewise.queries.candidates import all_pairs
from likewise.queries.pool import Pool, select
from likewise.queries.sqrt_loss import SqrtLoss
from likewise.seeds import stream


def _pool() -> Pool:
    """Three images: 0 and 1 at right angles, 2 between them; all surely in one cluster."""
    rows = np.array([[1, 0], [0, 1], [1, 1]]) / np.array([[1], [1], [2**0.5]])
    return Pool(rows, np.ones((3, 1)), ConstraintGraph(3))


def _first(power: float, seed: int) -> tuple[int, ...]:
    pair = select(SqrtLoss(power), _pool(), all_pairs(np.arange(3)), 1, stream(seed))
    return tuple(map(int, pair[0]))


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_pairs_are_drawn_with_the_power_of_their_loss(power: float) -> None:
    losses = np.array([1, 1 - 0.5**0.5, 1 - 0.5**0.5]) ** power  # of (0, 1), (0, 2), (1, 2)
    drawn = Counter(_first(power, seed) for seed in range(800))
    shares = np.array([drawn[pair] for pair in ((0, 1), (0, 2), (1, 2))]) / 800
    np.testing.assert_allclose(shares, losses / losses.sum(), atol=0.06)


def test_pairs_that_are_surely_different_are_hardly_asked() -> None:
    pool = replace(_pool(), probabilities=np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    pairs = all_pairs(np.arange(3))
    for seed in range(30):
        assert select(SqrtLoss(), pool, pairs, 1, stream(seed)).tolist() == [[0, 2]]


def test_the_draw_is_the_generators_and_not_by_the_order_of_pairs() -> None:
    pairs = all_pairs(np.arange(3))
    for seed in range(5):
        one, two = (select(SqrtLoss(), _pool(), p, 3, stream(seed)) for p in (pairs, pairs[::-1]))
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(
        SqrtLoss().score(_pool(), pairs), SqrtLoss().score(_pool(), pairs)
    )


def test_a_negative_power_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="power=-1 would prefer what is learned"):
        SqrtLoss(-1)
