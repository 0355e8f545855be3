"""Scaling: columns centred, facets of equal weight, constant columns silent."""

import numpy as np
import torch

from likewise.nn.scaling import BlockScaling
from likewise.seeds import stream


def test_facets_weigh_the_same_and_a_constant_column_says_nothing() -> None:
    matrix = stream(0, "scaling").normal(3.0, 5.0, size=(400, 12)).astype(np.float32)
    matrix[:, 4] = 1000 + 1e-5 * matrix[:, 4]  # rounding, nothing else
    scaling = BlockScaling({"narrow": slice(0, 2), "wide": slice(2, 12)}, 12)
    scaling.fit(matrix)
    scaled = scaling(torch.from_numpy(matrix)).numpy()
    assert np.abs(scaled[:, 4]).max() == 0
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-5)
    share = (scaled**2).sum(axis=1).mean(), (scaled[:, :2] ** 2).sum(axis=1).mean()
    assert 0.45 < share[1] / share[0] < 0.6  # half, but for the column that is silent


def test_one_facet_is_plain_standardisation() -> None:
    matrix = stream(1, "scaling").normal(size=(50, 3)).astype(np.float32)
    scaling = BlockScaling({"all": slice(0, 3)}, 3)
    scaling.fit(matrix)
    expected = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)
    np.testing.assert_allclose(scaling(torch.from_numpy(matrix)), expected, atol=1e-5)


def test_a_column_is_silent_up_to_a_ten_millionth_of_its_size_and_heard_above() -> None:
    wave = np.array([1.0, -1.0] * 10)
    sizes = {0.0: [0.9e-7, 1.1e-7], 0.5: [0.9e-7, 1.1e-7], -1000.0: [0.9e-4, 1.1e-4]}
    columns = [mean + spread * wave for mean, spreads in sizes.items() for spread in spreads]
    scaling = BlockScaling({"all": slice(0, 6)}, 6)
    scaling.fit(np.stack(columns, axis=1))
    assert (scaling.scale > 0).tolist() == [False, True] * 3


def test_many_rows_are_represented_by_evenly_spaced_ones() -> None:
    matrix = np.array([[1.0], [50], [50], [2], [50], [50], [6], [50], [50], [7]])
    scaling = BlockScaling({"all": slice(0, 1)}, 1)
    scaling.fit(matrix, rows=4)
    assert scaling.mean.item() == 4
    assert 1 / scaling.scale.item() == np.float32(np.std([1, 2, 6, 7]))
