"""Contrast that listens: pairs said to be the same attract, pairs said to differ repel."""

from torch import Tensor

from likewise.errors import UnknownNameError
from likewise.losses.positive_weights import positive_weights
from likewise.losses.relations import tiled
from likewise.losses.similarity import similarities

NORMS = ("anchor", "global")


def constrained_contrast(
    rows_a: Tensor,
    rows_b: Tensor,
    relations: Tensor,
    weights: Tensor | None = None,
    *,
    temperature: float,
    similarity: str = "cosine",
    norm: str = "anchor",
) -> Tensor:
    r"""Contrast each row with each of its positives, and average.

    Parameters
    ----------
    rows_a, rows_b : Tensor of shape (n, d)
        The two views: projections, or assignment probabilities.
    relations : Tensor of shape (n, n)
        ``+1`` same, ``-1`` different, ``0`` unknown; "different" counts twice
        among the rivals.
    weights : Tensor of shape (2n, 2n), optional
        What each positive pair counts, from `positive_weights`; by default
        the paper's, from `relations`.
    temperature : float
        :math:`\tau > 0`.
    similarity : {"cosine", "dot"}
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
    answers it is `contrast` plus :math:`\log(2n / (2n - 1))`.

    Fidelity: the last term is the authors' :math:`\mu_i`; the printed one counts
    cannot-links twice and the row itself. ``"anchor"`` is the paper's, ``"global"`` and
    ``similarity="dot"`` on assignments the code's.
    """
    if norm not in NORMS:
        raise UnknownNameError("norm", norm, NORMS)
    n = len(rows_a)
    s = similarities(rows_a, rows_b, temperature=temperature, kind=similarity)  # (2n, 2n)
    v = 1 + (tiled(relations, n) == -1).to(s.dtype)
    v.fill_diagonal_(0)
    w = positive_weights(relations, dtype=s.dtype) if weights is None else weights.to(s)
    rivals = (s + v.log()).logsumexp(dim=1) + (2 * n / v.sum(dim=1)).log()  # (2n,)
    cost = (w * (rivals[:, None] - s)).sum(dim=1)  # (2n,)
    if norm == "global":
        return cost.sum() / (w.sum() + 1e-10)
    return (cost / w.sum(dim=1)).mean()
