"""Similarity of the two views of an image, and of different images: what NT-Xent works on."""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.objective import Batch


class Similarities(NamedTuple):
    """Mean and variance of the cosines of positive and of negative pairs at one level."""

    positive: tuple[float, float]
    negative: tuple[float, float]


@torch.no_grad()
def pair_similarities(
    learner: NetworkLearner, n_images: int = 256
) -> tuple[Similarities, Similarities]:
    """Return the similarities between two views of some images, of instances and of clusters.

    Parameters
    ----------
    learner : NetworkLearner
        After `start`; its state is not changed.
    n_images : int
        Number of images, the first ones of the collection.

    Notes
    -----
    [CC]_ Figure 3: rows of the projections, and columns of the soft assignments, of two views.
    """
    with learner.evaluating():
        a, b = Batch(learner, 0, np.arange(min(n_images, len(learner.data)))).views
    return _similarities(a.z, b.z), _similarities(a.p.T, b.p.T)


def _similarities(a: Tensor, b: Tensor) -> Similarities:
    cosines = F.normalize(a.float(), dim=1) @ F.normalize(b.float(), dim=1).T
    same = torch.eye(len(cosines), dtype=torch.bool, device=cosines.device)
    return Similarities(_moments(cosines[same]), _moments(cosines[~same]))


def _moments(values: Tensor) -> tuple[float, float]:
    return float(values.mean()), float(values.var(unbiased=False))
