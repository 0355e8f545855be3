"""Contrast: two views of one thing attract, the views of all others repel."""

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.losses.similarity import similarities


def contrast(rows_a: Tensor, rows_b: Tensor, *, temperature: float) -> Tensor:
    r"""Contrast row ``i`` of one view with row ``i`` of the other.

    Give it projections to contrast images; give it *transposed* assignment
    probabilities to contrast clusters.

    Parameters
    ----------
    rows_a, rows_b : Tensor of shape (n, d)
        The two views; row ``i`` of both shows the same thing. They need not
        be normalised.
    temperature : float
        :math:`\tau > 0`; smaller values look harder at the nearest rivals.

    Returns
    -------
    loss : Tensor of shape ()

    Notes
    -----
    With :math:`s(u, v) = u^\top v / (\|u\| \|v\|)`, row :math:`i` of view
    :math:`a` costs

    .. math::
        \ell_i^a = -\log \frac{\exp(s(z_i^a, z_i^b) / \tau)}
                   {\sum_{z \ne z_i^a} \exp(s(z_i^a, z) / \tau)}

    where :math:`z` runs over all :math:`2n` rows, and the loss is the mean
    over rows and views: [CC]_ Eq. (2) on images, Eq. (5) on clusters.

    Fidelity: the printed sums count a row as its own rival; the authors' prose
    and code do not, nor do we. Ours takes any batch size; theirs fixes it when
    the loss is built.
    """
    n = len(rows_a)
    similarity = similarities(rows_a, rows_b, temperature=temperature)  # (2n, 2n)
    similarity.fill_diagonal_(-torch.inf)
    partner = torch.arange(2 * n, device=similarity.device).roll(n)  # i <-> i + n
    return F.cross_entropy(similarity, partner)
