import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.queries.candidates import all_pairs
from likewise.queries.pool import Pool
from likewise.queries.s_up import UncertainPairs

PAIRS = all_pairs(np.arange(8))


def s_up_by_loops(pool: Pool, epsilon: float) -> list[float]:
    """Eq. (6) as it stands, slow on purpose; s is averaged over the two views."""
    assert pool.views is not None
    a, b = pool.views
    raw = []
    for i, j in PAIRS:
        s = (sum(a[i] * a[j]) + sum(b[i] * b[j])) / 2
        raw.append(-abs(s - epsilon))
    return [(value - min(raw)) / (max(raw) - min(raw)) for value in raw]


def test_it_is_equation_6(pool: Pool) -> None:
    for epsilon in (0.2, 0.0, -0.3):
        np.testing.assert_allclose(
            UncertainPairs(epsilon).score(pool, PAIRS), s_up_by_loops(pool, epsilon), atol=1e-12
        )


def test_the_pair_nearest_to_epsilon_scores_1_and_the_farthest_0() -> None:
    angles = np.arccos([1.0, 0.2, 0.5])
    embeddings = np.stack([np.cos(angles), np.sin(angles)], axis=1)  # s to the first: 1, .2, .5
    pool = Pool(embeddings, np.ones((3, 1)), ConstraintGraph(3))
    scores = UncertainPairs().score(pool, np.array([[0, 1], [0, 2]]))
    assert scores.tolist() == [1, 0]
