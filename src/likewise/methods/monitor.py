"""Numbers that show in the log when training goes wrong."""

import math

import torch
from torch import Tensor


def size_entropy(sizes: Tensor) -> float:
    """Return the entropy of cluster sizes as a share of its maximum: 0 is collapse."""
    share = sizes / sizes.sum().clamp(min=1)
    return float(-torch.xlogy(share, share).sum() / math.log(max(len(sizes), 2)))
