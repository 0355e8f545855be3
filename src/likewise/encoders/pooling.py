"""From a map over places, or a row of patches, to one vector."""

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

GRID = 3  # cells a side


def mean_and_spread(maps: Tensor) -> Tensor:
    """Return mean and standard deviation over all places side by side.

    Parameters
    ----------
    maps : Tensor of shape (b, c, h, w) or (b, c, places)

    Returns
    -------
    pooled : Tensor of shape (b, 2 c)
    """
    spread, mean = torch.std_mean(maps.flatten(2), dim=2, correction=0)
    return torch.cat([mean, spread], dim=1)


def grid_means(maps: Tensor) -> Tensor:
    """Return the mean of each cell of a 3 x 3 grid: roughly where things are.

    Cells of a side that three does not divide overlap by one place.

    Parameters
    ----------
    maps : Tensor of shape (b, c, h, w)

    Returns
    -------
    pooled : Tensor of shape (b, 9 c)
    """
    return F.adaptive_avg_pool2d(maps, GRID).flatten(1)


def grid_means_of_array(maps: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the same as `grid_means`, of an array."""
    down, across = (_cells(side) for side in maps.shape[2:])
    cells = [maps[:, :, rows, columns].mean((2, 3)) for rows in down for columns in across]
    pooled: npt.NDArray[np.float32] = np.stack(cells, axis=2).reshape(len(maps), -1)
    return pooled


def _cells(side: int) -> list[slice]:
    return [slice(i * side // GRID, -(-(i + 1) * side // GRID)) for i in range(GRID)]
