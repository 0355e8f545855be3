"""Scaling: columns centred, facets of equal weight, constant columns silent."""

import numpy as np
import torch

from likewise.heads.scaling import FacetScaling
from likewise.seeds import stream


def test_facets_weigh_the_same_and_a_constant_column_says_nothing() -> None:
    matrix = stream(0, "scaling").normal(3.0, 5.0, size=(400, 12)).astype(np.float32)
    matrix[:, 4] = 1000 + 1e-5 * matrix[:, 4]  # rounding, nothing else
    scaling = FacetScaling({"narrow": slice(0, 2), "wide": slice(2, 12)}, 12)
    scaling.fit(matrix)
    scaled = scaling(torch.from_numpy(matrix)).numpy()
    assert np.abs(scaled[:, 4]).max() == 0
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-5)
    share = (scaled**2).sum(axis=1).mean(), (scaled[:, :2] ** 2).sum(axis=1).mean()
    assert 0.45 < share[1] / share[0] < 0.6  # half, but for the column that is silent


def test_one_facet_is_plain_standardisation() -> None:
    matrix = stream(1, "scaling").normal(size=(50, 3)).astype(np.float32)
    scaling = FacetScaling({"all": slice(0, 3)}, 3)
    scaling.fit(matrix)
    expected = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)
    np.testing.assert_allclose(scaling(torch.from_numpy(matrix)), expected, atol=1e-5)
