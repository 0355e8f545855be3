"""Losses on cluster assignments: entropy of cluster sizes and the DEC divergence."""

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.nn.losses.contrastive import at_least_float32


def cluster_entropy_loss(p_a: Tensor, p_b: Tensor, *, pooled: bool = False) -> Tensor:
    r"""Return the divergence of the mean assignment from the uniform one.

    Parameters
    ----------
    p_a, p_b : Tensor of shape (n, k)
        Assignment probabilities of the two views.
    pooled : bool
        Take one mean over the rows of both views instead of one for each view: one
        term instead of two, so half the weight.

    Returns
    -------
    loss : Tensor of shape ()

    Notes
    -----
    With :math:`\bar p` the mean row of a view, a view costs
    :math:`\log K + \sum_k \bar p_k \log \bar p_k \ge 0`: [CC]_ Eq. (6).

    Fidelity: [OCC]_ Eq. (5) and [PCL]_ Eq. (5) print the sign the other way
    round, which rewards one cluster for all; every code has it as here. Both
    pool the views in print (``pooled=True``) and not in code. An empty cluster
    counts 0, where the authors' logarithms fail or need an epsilon.
    """
    if pooled:
        return _divergence(torch.cat([p_a, p_b]))
    return _divergence(p_a) + _divergence(p_b)


def _divergence(p: Tensor) -> Tensor:
    share = at_least_float32(p).mean(dim=0)  # (k,)
    uniform = torch.full_like(share, 1 / len(share))
    # Clamped inside the logarithm: plain xlogy has the gradient 0/0 at an empty cluster.
    log_share = share.clamp_min(torch.finfo(share.dtype).tiny).log()
    return (share * (log_share - uniform.log())).sum()


def soft_assignment(rows: Tensor, centres: Tensor, *, alpha: float = 1.0) -> Tensor:
    r"""Return DEC's soft assignment of rows to centres, by Student's t; rows sum to one.

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
        raise InvalidParameterError(f"alpha must be greater than 0, got {alpha}.")
    rows, centres = at_least_float32(rows), at_least_float32(centres)
    # Squares summed, not cdist squared: the gradient of a root is undefined on a centre.
    distances = (rows[:, None, :] - centres[None, :, :]).square().sum(dim=2)  # (n, k)
    return (-(alpha + 1) / 2 * (distances / alpha).log1p()).softmax(dim=1)


@torch.no_grad()
def sharpen(q: Tensor) -> Tensor:
    r"""Return the target assignment of *all* images: sharper, normalised by cluster size.

    Notes
    -----
    [DEC]_ Eq. (3): :math:`p_{ij} \propto q_{ij}^2 / \sum_i q_{ij}`. An empty
    cluster stays at 0. It has no gradient.
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
