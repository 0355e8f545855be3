"""Scaling: columns are standardised, blocks have equal weight, constant columns become zero."""

import numpy as np

from likewise.estimators.data import BlockScaler
from likewise.random_streams import stream


def test_blocks_have_equal_weight_and_a_constant_column_becomes_zero() -> None:
    matrix = stream(0, "scaling").normal(3.0, 5.0, size=(400, 12)).astype(np.float32)
    matrix[:, 4] = 1000 + 1e-5 * matrix[:, 4]  # rounding only
    scaling = BlockScaler({"narrow": slice(0, 2), "wide": slice(2, 12)}, 12)
    scaling.fit(matrix)
    scaled = scaling.transform(matrix)
    assert np.abs(scaled[:, 4]).max() == 0
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-5)
    share = (scaled**2).sum(axis=1).mean(), (scaled[:, :2] ** 2).sum(axis=1).mean()
    assert 0.45 < share[1] / share[0] < 0.6  # half, except for the constant column


def test_one_block_is_standardised() -> None:
    matrix = stream(1, "scaling").normal(size=(50, 3)).astype(np.float32)
    scaling = BlockScaler({"all": slice(0, 3)}, 3)
    scaling.fit(matrix)
    expected = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)
    np.testing.assert_allclose(scaling.transform(matrix), expected, atol=1e-5)


def test_a_column_is_constant_up_to_a_ten_millionth_of_its_mean() -> None:
    wave = np.array([1.0, -1.0] * 10)
    sizes = {0.0: [0.9e-7, 1.1e-7], 0.5: [0.9e-7, 1.1e-7], -1000.0: [0.9e-4, 1.1e-4]}
    columns = [mean + spread * wave for mean, spreads in sizes.items() for spread in spreads]
    scaling = BlockScaler({"all": slice(0, 6)}, 6)
    scaling.fit(np.stack(columns, axis=1))
    assert (scaling.scale > 0).tolist() == [False, True] * 3


def test_statistics_are_those_of_evenly_spaced_rows() -> None:
    matrix = np.array([[1.0], [50], [50], [2], [50], [50], [6], [50], [50], [7]])
    scaling = BlockScaler({"all": slice(0, 1)}, 1)
    scaling.fit(matrix, n_sampled=4)
    assert scaling.mean.item() == 4
    assert 1 / scaling.scale.item() == np.float32(np.std([1, 2, 6, 7]))
