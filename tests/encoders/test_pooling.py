"""A grid of means: the same from both runners, and it knows where something is."""

import numpy as np
import pytest
import torch

from likewise.encoders.pooling import grid_means, grid_means_of_array


@pytest.mark.parametrize(("h", "w"), [(3, 3), (10, 10), (7, 5), (2, 4), (1, 1)])
def test_the_grid_of_an_array_is_that_of_torch(h: int, w: int) -> None:
    maps = torch.randn(2, 3, h, w, generator=torch.Generator().manual_seed(0))
    pooled = grid_means(maps)
    assert pooled.shape == (2, 27)
    np.testing.assert_allclose(grid_means_of_array(maps.numpy()), pooled.numpy(), atol=1e-6)


def test_the_grid_knows_where_something_is() -> None:
    maps = torch.zeros(1, 1, 9, 9)
    maps[0, 0, :3, 6:] = 1
    assert grid_means(maps).tolist() == [[0, 0, 1, 0, 0, 0, 0, 0, 0]]
