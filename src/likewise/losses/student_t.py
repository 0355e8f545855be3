"""Soft assignment by distance, and the sharper one it is trained towards (DEC)."""

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.losses.similarity import at_least_float32


def student_t(rows: Tensor, centres: Tensor, *, alpha: float = 1.0) -> Tensor:
    r"""Return how much each row belongs to each centre; rows sum to one.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
    centres : Tensor of shape (k, d)
    alpha : float
        Degrees of freedom, above 0.

    Returns
    -------
    q : Tensor of shape (n, k)

    Notes
    -----
    [DEC]_ Eq. (1): :math:`q_{ij} \propto (1 + \|z_i - \mu_j\|^2 / \alpha)^{-(\alpha + 1) / 2}`.
    """
    if not alpha > 0:
        raise InvalidParameterError(f"alpha={alpha} has no distribution; choose a value above 0.")
    rows, centres = at_least_float32(rows), at_least_float32(centres)
    # Squares summed, not cdist squared: the gradient of a root is undefined on a centre.
    distances = (rows[:, None, :] - centres[None, :, :]).square().sum(dim=2)  # (n, k)
    return (-(alpha + 1) / 2 * (distances / alpha).log1p()).softmax(dim=1)


@torch.no_grad()
def sharpen(q: Tensor) -> Tensor:
    r"""Return the target assignment of *all* images: surer, and fair to small clusters.

    Notes
    -----
    [DEC]_ Eq. (3): :math:`p_{ij} \propto q_{ij}^2 / \sum_i q_{ij}`. A cluster nobody
    belongs to stays at 0. It has no gradient.
    """
    q = at_least_float32(q)
    size = q.sum(dim=0).clamp_min(torch.finfo(q.dtype).tiny)
    sharp = q.square() / size
    return sharp / sharp.sum(dim=1, keepdim=True)


def target_divergence(q: Tensor, target: Tensor) -> Tensor:
    r"""Return the mean over rows of :math:`\mathrm{KL}(p_i \| q_i)`, [DEC]_ Eq. (2).

    Fidelity: a mean, where the paper sums, so that the weight does not depend on the batch.
    """
    q = at_least_float32(q)
    log_q = q.clamp_min(torch.finfo(q.dtype).tiny).log()
    return (torch.xlogy(target, target) - target * log_q).sum(dim=1).mean()
