import math

import numpy as np
import pytest

from likewise.queries.scores import bernoulli_divergence, min_max


def test_min_max_runs_from_0_to_1() -> None:
    assert min_max(np.array([3.0, -1.0, 1.0])).tolist() == [1, 0, 0.5]


def test_min_max_of_equal_values_and_of_none() -> None:
    assert min_max(np.array([2.0, 2.0])).tolist() == [0, 0]
    assert min_max(np.array([])).shape == (0,)


def test_divergence_known_by_thought() -> None:
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.25, 1.0])
    far = 0.999 * math.log(0.999 / 0.001) + 0.001 * math.log(0.001 / 0.999)
    expected = [0, math.log(2) / 2 + math.log(2 / 3) / 2, far]
    assert bernoulli_divergence(p, q).tolist() == pytest.approx(expected)
