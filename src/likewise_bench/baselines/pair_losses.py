"""Losses of the embeddings of two images: near for must-links, far for cannot-links."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.nn.losses.contrastive import at_least_float32
from likewise.nn.losses.dsac import squared_distances

_EPSILON = 1e-6  # keeps the gradients of square roots and arc cosines finite


def signed_distance(first: Tensor, second: Tensor, relations: Tensor, *, clip: float) -> Tensor:
    r"""Return SDEC's term, the mean of :math:`a_{ij} \|z_i - z_j\|^2`, a = +1 same, -1 different.

    Fidelity: the cannot-link term is clipped at `clip`; the paper's has no lower bound.
    """
    squared = squared_distances(first, second)
    return torch.where(relations > 0, squared, -squared.clamp(max=clip)).mean()


def margin_distance(first: Tensor, second: Tensor, relations: Tensor, *, margin: float) -> Tensor:
    r"""Return the margin-based contrastive loss, the mean over pairs.

    A must-link costs :math:`d^2`, a cannot-link :math:`\max(0, m - d)^2`.
    """
    squared = squared_distances(first, second)
    short = (margin - (squared + _EPSILON).sqrt()).clamp(min=0).square()
    return torch.where(relations > 0, squared, short).mean()


def clipped_distance(first: Tensor, second: Tensor, relations: Tensor, *, limit: float) -> Tensor:
    r"""Return AutoEmbedder's regression of :math:`\min(d, \alpha)` to 0 or to :math:`\alpha`.

    Divided by :math:`\alpha^2`, so that the scale of the loss does not depend on it.
    """
    distance = (squared_distances(first, second) + _EPSILON).sqrt().clamp(max=limit)
    target = torch.where(relations > 0, 0.0, limit).to(distance)
    return ((distance - target) / limit).square().mean()


def angle_likelihood(first: Tensor, second: Tensor, relations: Tensor, *, factor: float) -> Tensor:
    r"""Return SpherePair's cross-entropy of the angle between two embeddings, the mean over pairs.

    With :math:`\theta` the angle, the probability of "same" is
    :math:`s(\theta) = (1 + \cos \theta) / 2` for must-links and
    :math:`s(\min(\omega \theta, \pi))` for cannot-links: beyond :math:`\pi / \omega` a
    cannot-link costs nothing.
    """
    cosine = F.cosine_similarity(at_least_float32(first), at_least_float32(second), dim=1)
    angle = cosine.clamp(-1 + _EPSILON, 1 - _EPSILON).acos()
    near = (1 + angle.cos()) / 2
    far = (1 - (factor * angle).clamp(max=math.pi).cos()) / 2
    likelihood = torch.where(relations > 0, near, far)
    return -likelihood.clamp(min=_EPSILON).log().mean()
