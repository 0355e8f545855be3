"""Negative log-likelihood of must-links and cannot-links under soft assignments."""

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.nn.losses.contrastive import at_least_float32


def pairwise_nll(
    log_p_first: Tensor, log_p_second: Tensor, relations: Tensor, weights: Tensor | None = None
) -> Tensor:
    r"""Return the mean negative log-likelihood of the answers to `m` pairs.

    Parameters
    ----------
    log_p_first, log_p_second : Tensor of shape (m, k)
        Logarithms of the assignment probabilities of both images of each pair,
        k at least 2. Logarithms (``log_softmax``), since a confident mistake has
        a probability that float32 cannot hold.
    relations : Tensor of shape (m,)
        ``+1`` same, ``-1`` different; ``0`` costs nothing and is not counted.
    weights : Tensor of shape (m,), optional
        What each answer counts.

    Returns
    -------
    loss : Tensor of shape ()
        0 if no answer counts.

    Notes
    -----
    With :math:`s = \sum_k q_{ik} q_{jk}` the probability that both images are in one
    cluster, "same" costs :math:`-\log s` and "different" :math:`-\log(1 - s)`: [DCC]_.
    :math:`1 - s` is computed as :math:`\sum_k q_{ik} \sum_{l \ne k} q_{jl}`, which never
    cancels, so also a certain mistake has a finite cost and a gradient.

    Fidelity: the paper sums both kinds apart; here the mean over all answers,
    and `weights` if one kind should count more.
    """
    _check(log_p_first, log_p_second, relations)
    first, second = at_least_float32(log_p_first), at_least_float32(log_p_second)
    known = (relations != 0).to(first.dtype)
    known = known if weights is None else known * weights.to(first)
    log_same = (first + second).logsumexp(dim=1)  # (m,)
    log_apart = (first + _log_others(second)).logsumexp(dim=1)  # (m,)
    log_likelihood = torch.where(relations > 0, log_same, log_apart)
    return -(known * log_likelihood).sum() / known.sum().clamp_min(torch.finfo(known.dtype).tiny)


def _log_others(log_p: Tensor) -> Tensor:
    """Return for each cluster the logarithm of the probability of all others, ``(m, k)``."""
    k = log_p.shape[1]
    itself = torch.eye(k, dtype=torch.bool, device=log_p.device)
    return log_p[:, None, :].expand(-1, k, -1).masked_fill(itself, -torch.inf).logsumexp(dim=2)


def _check(first: Tensor, second: Tensor, relations: Tensor) -> None:
    if first.shape != second.shape or relations.shape != first.shape[:1]:
        raise InvalidParameterError(
            "log_p_first, log_p_second and relations must have one row for each pair, got "
            f"{tuple(first.shape)}, {tuple(second.shape)} and {tuple(relations.shape)}."
        )
    if first.shape[1] < 2:
        raise InvalidParameterError(f"cannot-links need at least 2 clusters, got {first.shape[1]}.")
