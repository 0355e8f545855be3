"""Losses that use answers: PCL's constrained NT-Xent, and the pairwise likelihood."""

from collections.abc import Callable

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.nn.losses.contrastive import at_least_float32, similarities, tile_relations


def positive_weights(
    relations: Tensor,
    pseudo: Tensor | None = None,
    *,
    kind: str = "paper",
    strength: float = 4.0,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    r"""Return the weight of every pair of views as a positive pair.

    Parameters
    ----------
    relations : Tensor of shape (n, n)
        Given and implied: ``+1`` same, ``-1`` different, ``0`` unknown.
    pseudo : Tensor of shape (n, n), optional
        Pseudo-links; one weighs as another view does, and nothing where an answer is known.
    kind : {"paper", "authors"}
        Which reading; see Notes.
    strength : float
        :math:`\lambda \ge 0`, how much answers count together.
    dtype : torch.dtype

    Returns
    -------
    weights : Tensor of shape (2n, 2n)
        Zero diagonal.

    Notes
    -----
    With :math:`N_+` the must-links in the batch, [PCL]_ Eq. (2) gives another view
    :math:`N_+` and an answer :math:`\lambda n`; the authors' code gives them 1 and
    :math:`1 + \max(\lambda n / (N_+ + 1), 2)`.

    Fidelity: ``"paper"`` counts :math:`N_+` unordered, ``"authors"`` ordered, as the
    code does. Without must-links the paper divides 0 by 0; another view weighs 1
    then, which leaves plain NT-Xent.
    """
    if kind not in _KINDS:
        raise UnknownNameError("kind of positive weights", kind, _KINDS)
    if not strength >= 0:
        raise InvalidParameterError(
            f"strength must be >= 0, got {strength}; a negative value pushes must-links apart."
        )
    n = len(relations)
    answered = tile_relations(relations, n)  # (2n, 2n)
    view, answer = _KINDS[kind](int((relations == 1).sum()), n, strength)
    another_view = torch.eye(2 * n, device=relations.device, dtype=dtype).roll(n, dims=1)
    weights = another_view * view + (answered == 1).to(dtype) * answer
    if pseudo is None:
        return weights
    guessed = (tile_relations(pseudo, n) == 1) & (answered == 0)
    return weights + guessed.to(dtype) * view


def _paper(n_ordered: int, n: int, strength: float) -> tuple[float, float]:
    """Return the weight of another view and of an answer."""
    return max(n_ordered / 2, 1.0), strength * n


def _authors(n_ordered: int, n: int, strength: float) -> tuple[float, float]:
    """Return the weight of another view and of an answer."""
    return 1.0, 1 + max(strength * n / (n_ordered + 1), 2.0)


_KINDS: dict[str, Callable[[int, int, float], tuple[float, float]]] = {
    "paper": _paper,
    "authors": _authors,
}


NORMS = ("anchor", "global")


def constrained_nt_xent(
    rows_a: Tensor,
    rows_b: Tensor,
    relations: Tensor,
    weights: Tensor | None = None,
    *,
    temperature: float,
    similarity: str = "cosine",
    norm: str = "anchor",
) -> Tensor:
    r"""Return constrained NT-Xent: the mean cost of each positive of each row.

    Parameters
    ----------
    rows_a, rows_b : Tensor of shape (n, d)
        The two views: projections, or assignment probabilities.
    relations : Tensor of shape (n, n)
        ``+1`` same, ``-1`` different, ``0`` unknown; cannot-links count twice
        among the negatives.
    weights : Tensor of shape (2n, 2n), optional
        What each positive pair counts, from `positive_weights`; by default
        the paper's, from `relations`.
    temperature : float
        :math:`\tau > 0`.
    similarity : {"cosine", "dot", "log"}
        See `similarities`.
    norm : {"anchor", "global"}
        Divide by the weights of each row and average over rows, or divide
        once by all weights: then few rows with answers outweigh all others.

    Returns
    -------
    loss : Tensor of shape ()

    Notes
    -----
    [PCL]_ Eq. (1) to (3). With :math:`v_{ik} = 2` where :math:`i, k` differ, 0 where
    :math:`k = i` and 1 elsewhere, the pair :math:`i, j` costs

    .. math::
        l_{ij} = -s_{ij} / \tau + \log \sum_k v_{ik} \exp(s_{ik} / \tau)
                 + \log \frac{2n}{\sum_k v_{ik}}

    and the loss is :math:`\frac{1}{2n} \sum_i \sum_j w_{ij} l_{ij} / \sum_j w_{ij}`, or
    :math:`\sum_{ij} w_{ij} l_{ij} / (\sum_{ij} w_{ij} + 10^{-10})` for ``"global"``. Without
    answers it is `nt_xent` plus :math:`\log(2n / (2n - 1))`.

    Fidelity: the last term is the authors' :math:`\mu_i`; the printed one counts
    cannot-links twice and the row itself. ``"anchor"`` is the paper's, ``"global"`` and
    ``similarity="dot"`` on assignments the code's. ``"log"``, of assignments, is ours: the
    gradient of the cosine vanishes where two confident assignments contradict an answer.
    """
    if norm not in NORMS:
        raise UnknownNameError("norm", norm, NORMS)
    n = len(rows_a)
    s = similarities(rows_a, rows_b, temperature=temperature, kind=similarity)  # (2n, 2n)
    v = 1 + (tile_relations(relations, n) == -1).to(s.dtype)
    v.fill_diagonal_(0)
    w = positive_weights(relations, dtype=s.dtype) if weights is None else weights.to(s)
    negatives = (s + v.log()).logsumexp(dim=1) + (2 * n / v.sum(dim=1)).log()  # (2n,)
    cost = (w * (negatives[:, None] - s)).sum(dim=1)  # (2n,)
    if norm == "global":
        return cost.sum() / (w.sum() + 1e-10)
    return (cost / w.sum(dim=1)).mean()


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
    _check_pairs(log_p_first, log_p_second, relations)
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


def _check_pairs(first: Tensor, second: Tensor, relations: Tensor) -> None:
    if first.shape != second.shape or relations.shape != first.shape[:1]:
        raise InvalidParameterError(
            "log_p_first, log_p_second and relations must have one row for each pair, got "
            f"{tuple(first.shape)}, {tuple(second.shape)} and {tuple(relations.shape)}."
        )
    if first.shape[1] < 2:
        raise InvalidParameterError(f"cannot-links need at least 2 clusters, got {first.shape[1]}.")
