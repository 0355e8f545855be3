import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from likewise.queries.candidates import all_pairs, random_pairs
from likewise.queries.entropy import Entropy
from likewise.queries.pool import Pool, select
from likewise.seeds import stream

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


def test_one_cluster_is_no_reason_to_fail(make_pool: MakePool) -> None:
    scores = Entropy().score(make_pool(k=1), all_pairs(np.arange(8)))
    assert np.isfinite(scores).all()
