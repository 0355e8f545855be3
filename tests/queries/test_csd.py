from dataclasses import replace

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import InvalidParameterError
from likewise.queries.candidates import all_pairs
from likewise.queries.csd import SimilarityChange
from likewise.queries.pool import Pool

PAIRS = all_pairs(np.arange(8))


def csd_by_loops(pool: Pool) -> list[float]:
    """The product of similarity and its change, slow on purpose."""
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


def test_known_by_thought() -> None:
    now = np.array([[1.0, 0.0], [0.6, 0.8], [-0.6, 0.8], [1.0, 0.0]])
    before = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    pool = Pool(now, np.ones((4, 1)), ConstraintGraph(4), previous=before)
    pairs = np.array([[0, 1], [0, 2], [0, 3]])  # .6 was 0; -.6 was 0; 1 was 1
    scores = SimilarityChange().score(pool, pairs)
    np.testing.assert_allclose(scores, [0.36, -np.inf, -np.inf])


def test_without_an_earlier_cycle_it_says_so(pool: Pool) -> None:
    with pytest.raises(InvalidParameterError, match="previous=None; train one more epoch"):
        SimilarityChange().score(replace(pool, previous=None), PAIRS)
