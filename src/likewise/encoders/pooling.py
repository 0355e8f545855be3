"""From a map over places, or a row of patches, to one vector."""

import torch
from torch import Tensor


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
