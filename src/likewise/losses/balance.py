"""Balance: clusters should share the images, or one cluster swallows them all."""

import torch
from torch import Tensor

from likewise.losses.similarity import at_least_float32


def balance(
    p_a: Tensor, p_b: Tensor, *, pooled: bool = False, prior: Tensor | None = None
) -> Tensor:
    r"""Return how far the mean assignments are from an even share; 0 is even.

    Parameters
    ----------
    p_a, p_b : Tensor of shape (n, k)
        Assignment probabilities of the two views.
    pooled : bool
        Take one mean over the rows of both views instead of one a view: one
        term instead of two, so half the weight.
    prior : Tensor of shape (k,), optional
        Shares known beforehand, all above 0; even ones if None.

    Returns
    -------
    loss : Tensor of shape ()

    Notes
    -----
    With :math:`\bar p` the mean row of a view and :math:`\pi` the prior, a view costs

    .. math:: \mathrm{KL}(\bar p \,\|\, \pi) = \sum_k \bar p_k \log (\bar p_k / \pi_k),

    for even shares :math:`\log K + \sum_k \bar p_k \log \bar p_k \ge 0`: [CC]_ Eq. (6).

    Fidelity: [OCC]_ Eq. (5) and [PCL]_ Eq. (5) print the sign the other way
    round, which rewards one cluster for all; every code has it as here. Both
    pool the views in print (``pooled=True``) and not in code. A cluster
    nobody is assigned to counts 0, where the authors' logarithms fail or need an epsilon.
    """
    if pooled:
        return _divergence(torch.cat([p_a, p_b]), prior)
    return _divergence(p_a, prior) + _divergence(p_b, prior)


def _divergence(p: Tensor, prior: Tensor | None) -> Tensor:
    share = at_least_float32(p).mean(dim=0)  # (k,)
    if prior is None:
        prior = torch.full_like(share, 1 / len(share))
    # Clamped inside the logarithm: plain xlogy has the gradient 0/0 at an empty cluster.
    log_share = share.clamp_min(torch.finfo(share.dtype).tiny).log()
    return (share * (log_share - prior.to(share).log())).sum()
