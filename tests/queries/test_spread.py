import numpy as np

from likewise.queries.spread import spread
from likewise.seeds import stream


def test_all_are_drawn_once_before_any_is_drawn_again() -> None:
    rows = stream(0).normal(size=(6, 2))
    assert sorted(spread(rows, 10, stream(1))) == list(range(6))


def test_images_far_apart_are_drawn_first() -> None:
    heaps = np.repeat([[0.0, 0], [100, 0], [0, 100]], 20, axis=0)
    heaps += stream(0).normal(scale=0.01, size=heaps.shape)
    for seed in range(10):
        assert sorted(spread(heaps, 3, stream(seed)) // 20) == [0, 1, 2]


def test_copies_are_drawn_when_nothing_else_is_left() -> None:
    rows = np.array([[0.0], [0.0], [0.0], [5.0]])
    drawn = spread(rows, 4, stream(0)).tolist()
    assert 3 in drawn[:2]
    assert sorted(drawn) == [0, 1, 2, 3]
