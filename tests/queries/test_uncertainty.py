import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.queries.base import Pool, select
from likewise.queries.candidates import all_pairs
from likewise.queries.uncertainty import MarginDiversity, Uncertainty
from likewise.random_streams import stream


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


def test_of_the_smallest_margins_those_far_apart_are_asked() -> None:
    # Images 0-2 lie together, 3-5 lie together, 6 is the anchor; all margins are small but 3's.
    places = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2], [4.0]])
    probabilities = np.array([[0.5, 0.5]] * 7)
    pool = Pool(places, probabilities, ConstraintGraph(7))
    against_anchor = np.array([[i, 6] for i in range(6)])
    for seed in range(10):
        asked = select(MarginDiversity(), pool, against_anchor, 2, stream(seed))
        assert sorted(asked[:, 0] // 3) == [0, 1]  # one of each heap


def test_beyond_the_shortlist_the_margin_decides(pool: Pool) -> None:
    pairs = all_pairs(np.arange(8))
    margin = Uncertainty().score(pool, pairs)
    both = MarginDiversity(shortlist=3).score(pool, pairs)
    assert set(np.argsort(-both)[:3]) == set(np.argsort(-margin)[:3])
    np.testing.assert_array_equal(np.argsort(-both)[3:], np.argsort(-margin)[3:])
    assert np.argmax(both) == np.argmax(margin)


def test_the_order_of_the_shortlist_is_farthest_first(pool: Pool) -> None:
    """The traversal again, as loops."""
    pairs = all_pairs(np.arange(8))
    scores = MarginDiversity(shortlist=28).score(pool, pairs)
    order = [tuple(pair) for pair in pairs[np.argsort(-scores)].tolist()]

    def gain(pair: tuple[int, ...], taken: list[tuple[int, ...]]) -> float:
        asked = {image for other in taken for image in other}
        return max(
            min(float(np.linalg.norm(pool.embeddings[i] - pool.embeddings[k])) for k in asked)
            for i in pair
        )

    for place in range(1, len(order)):
        gains = [gain(pair, order[:place]) for pair in order[place:]]
        assert gains[0] >= max(gains) - 1e-12
