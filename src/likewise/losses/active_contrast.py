"""Active contrast: images said to be the same join the positives, summed inside one logarithm."""

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.losses.relations import tiled
from likewise.losses.similarity import similarities


def active_contrast(
    rows_a: Tensor,
    rows_b: Tensor,
    relations: Tensor,
    *,
    weight: float,
    temperature: float,
    similarity: str = "cosine",
    include_self: bool = False,
) -> Tensor:
    r"""Contrast each row with the sum of all its positives.

    The gradient goes to the positive that is nearest already; see
    `constrained_contrast` for the mean over positives.

    Parameters
    ----------
    rows_a, rows_b : Tensor of shape (n, d)
        The two views: projections, or assignment probabilities.
    relations : Tensor of shape (n, n)
        ``+1`` same, ``-1`` different, ``0`` unknown; only "same" enters the loss.
    weight : float
        :math:`\lambda \ge 0`, what an answered positive counts against the other view.
    temperature : float
        :math:`\tau > 0`.
    similarity : {"cosine", "dot"}
    include_self : bool
        Let a row be its own rival, as the paper says on purpose.

    Returns
    -------
    loss : Tensor of shape ()

    Notes
    -----
    [OCC]_ Eq. (3) and (4), with :math:`C_{ij} = \lambda` where :math:`i, j` are the
    same and 0 elsewhere, :math:`e_{ij} = \exp(s_{ij} / \tau)`, :math:`i'` the other
    view of :math:`i`, and the mean over the :math:`2n` rows of

    .. math::
        \ell_i = -\log \frac{e_{ii'} + \sum_j C_{ij} (e_{ij^a} + e_{ij^b})}
                 {c_i \sum_{k \ne i} e_{ik}}, \qquad c_i = n + \sum_j C_{ij}

    :math:`c_i` has no gradient and is kept so that curves can be compared;
    without answers the loss is `contrast` plus :math:`\log n`.

    Fidelity: :math:`C_{ii} = 0`, where the printed definition makes a row its own
    positive. The printed denominator holds the row itself, codes do not:
    ``include_self`` decides. "Different" is not used; that is the paper's.
    """
    if not weight >= 0:
        raise InvalidParameterError(
            f"weight={weight} would push apart what is the same; choose 0 or more."
        )
    n = len(rows_a)
    s = similarities(rows_a, rows_b, temperature=temperature, kind=similarity)  # (2n, 2n)
    itself = torch.eye(2 * n, dtype=torch.bool, device=s.device)
    positives = (tiled(relations, n) == 1).to(s.dtype) * weight  # (2n, 2n)
    log_c = (n + positives.sum(dim=1) / 2).log()  # (2n,); each image stands there twice
    positives = positives + itself.roll(n, dims=1)
    rivals = s if include_self else s.masked_fill(itself, -torch.inf)
    numerator = (s + positives.log()).logsumexp(dim=1)
    return (log_c + rivals.logsumexp(dim=1) - numerator).mean()
