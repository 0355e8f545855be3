import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import InvalidParameterError
from likewise.queries.base import Pool, select
from likewise.queries.candidates import all_pairs, random_pairs
from likewise.queries.occ import Entropy, SimilarityChange, SqrtLoss
from likewise.random_streams import stream

PAIRS = all_pairs(np.arange(8))


def csd_by_loops(pool: Pool) -> list[float]:
    """The product of similarity and its change, by loops."""
    assert pool.previous is not None
    scores = []
    for i, j in PAIRS:
        now = sum(pool.embeddings[i] * pool.embeddings[j])
        before = sum(pool.previous[i] * pool.previous[j])
        score = now * abs(now - before)
        scores.append(score if score > 0 else -np.inf)
    return scores


def test_it_is_similarity_times_its_change(pool: Pool) -> None:
    expected = csd_by_loops(pool)
    assert -np.inf in expected  # some pairs of this pool are dissimilar
    np.testing.assert_allclose(SimilarityChange().score(pool, PAIRS), expected, atol=1e-12)


def test_values_computed_by_hand() -> None:
    now = np.array([[1.0, 0.0], [0.6, 0.8], [-0.6, 0.8], [1.0, 0.0]])
    before = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    pool = Pool(now, np.ones((4, 1)), ConstraintGraph(4), previous=before)
    pairs = np.array([[0, 1], [0, 2], [0, 3]])  # .6 was 0; -.6 was 0; 1 was 1
    scores = SimilarityChange().score(pool, pairs)
    np.testing.assert_allclose(scores, [0.36, -np.inf, -np.inf])


def test_without_an_earlier_cycle_it_is_reported(pool: Pool) -> None:
    with pytest.raises(InvalidParameterError, match="got previous=None; train one more epoch"):
        SimilarityChange().score(replace(pool, previous=None), PAIRS)


MakePool = Callable[..., Pool]


def entropy_by_loops(pool: Pool, pairs: list[tuple[int, int]]) -> list[float]:
    """Slow on purpose: for each image its partners in order of similarity."""
    n, k = pool.probabilities.shape
    best = dict.fromkeys(pairs, -math.inf)
    for image in range(n):
        mine = [pair for pair in pairs if image in pair]
        mine.sort(key=lambda pair: float(pool.embeddings[pair[0]] @ pool.embeddings[pair[1]]))
        p = pool.probabilities[image]
        entropy = -sum(x * math.log(x) for x in p) / math.log(k)
        middles = [(len(mine) - 1) // 2, len(mine) // 2]  # one and the same for an odd number
        for place, pair in enumerate(mine):
            rank = min(abs(place - middle) for middle in middles)
            best[pair] = max(best[pair], entropy / 2 - rank)
    return [best[pair] for pair in pairs]


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_least_certain_image_with_its_median_partner(
    make_pool: MakePool, seed: int
) -> None:
    pool = make_pool(n=12, seed=seed)
    some = random_pairs(12, 40, stream(seed))
    pairs = [(int(i), int(j)) for i, j in some]
    np.testing.assert_allclose(
        Entropy().score(pool, some), entropy_by_loops(pool, pairs), atol=1e-12
    )


def test_the_first_question_is_about_the_least_certain_image(make_pool: MakePool) -> None:
    pool = make_pool(n=8)
    probabilities = np.tile([0.98, 0.01, 0.01], (8, 1))
    probabilities[5] = [0.4, 0.3, 0.3]
    pool = replace(pool, probabilities=probabilities)
    ((i, j),) = select(Entropy(), pool, all_pairs(np.arange(8)), 1, stream(0))
    partner = int(i if j == 5 else j)
    assert 5 in (i, j)
    others = [x for x in range(8) if x != 5]
    similarity = [float(pool.embeddings[5] @ pool.embeddings[x]) for x in others]
    assert similarity[others.index(partner)] == np.median(similarity)


def test_each_image_is_asked_about_once_before_any_is_asked_about_again(
    make_pool: MakePool,
) -> None:
    pool = make_pool(n=8)
    asked = select(Entropy(), pool, all_pairs(np.arange(8)), 4, stream(0))
    by_entropy = np.argsort((pool.probabilities * np.log(pool.probabilities)).sum(axis=1))
    assert by_entropy[0] in asked[0]
    assert by_entropy[1] in asked[:2]


def test_one_cluster_is_not_a_reason_to_fail(make_pool: MakePool) -> None:
    scores = Entropy().score(make_pool(k=1), all_pairs(np.arange(8)))
    assert np.isfinite(scores).all()


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


def test_pairs_that_certainly_differ_are_rarely_asked() -> None:
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


def test_a_negative_power_raises_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="power must be >= 0, got -1"):
        SqrtLoss(-1)
