"""Contrastive losses: NT-Xent, and OCC's extension by answered pairs.

PCL's loss, which both methods can use, is in `likewise.nn.losses.constrained`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError

SIMILARITIES = ("cosine", "dot", "log")
_NO_DIRECTION = 1e-12  # shorter rows count as zero
_NEVER = 1e-30  # smaller probabilities count as this one, so that their logarithm is finite


def similarities(
    rows_a: Tensor, rows_b: Tensor, *, temperature: float, kind: str = "cosine"
) -> Tensor:
    """Return the similarity of every row of both views to every other, over `temperature`.

    Computed in float32 at least, also under bf16 autocast: divided by a small
    temperature, three digits are too few.

    Parameters
    ----------
    rows_a, rows_b : Tensor of shape (n, d)
        The two views, at least one row each.
    temperature : float
        Above 0.
    kind : {"cosine", "dot", "log"}
        ``"dot"`` does not normalise the rows; ``"log"`` is the logarithm of the dot product, for
        rows of probabilities: of the probability that both are in one cluster.

    Returns
    -------
    similarity : Tensor of shape (2n, 2n)
        Rows of view a first, then those of view b.
    """
    _check(rows_a, rows_b, temperature, kind)
    with torch.autocast(rows_a.device.type, enabled=False):
        rows = at_least_float32(torch.cat([rows_a, rows_b]))  # (2n, d)
        if kind == "cosine":
            rows = unit_rows(rows)
        products = rows @ rows.T
        if kind == "log":
            products = products.clamp_min(_NEVER).log()
        return products / temperature


def unit_rows(rows: Tensor) -> Tensor:
    """Return `rows` scaled to length one; a row of zeros stays zero and gets no gradient.

    Not ``F.normalize``: at a row of zeros its gradient is 1e12 times too large.
    """
    length = rows.norm(dim=1, keepdim=True)
    return torch.where(length > _NO_DIRECTION, rows / length.clamp_min(_NO_DIRECTION), 0.0)


def at_least_float32(values: Tensor) -> Tensor:
    """Return `values` in float32, or unchanged if they are more precise."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def _check(rows_a: Tensor, rows_b: Tensor, temperature: float, kind: str) -> None:
    if rows_a.shape != rows_b.shape or rows_a.dim() != 2 or len(rows_a) == 0:
        raise InvalidParameterError(
            "rows_a and rows_b must be matrices of the same shape with at least one row, row i of "
            f"both for the same image, got shapes {tuple(rows_a.shape)} and {tuple(rows_b.shape)}."
        )
    if not temperature > 0:
        raise InvalidParameterError(f"temperature must be greater than 0, got {temperature}.")
    if kind not in SIMILARITIES:
        raise UnknownNameError("similarity", kind, SIMILARITIES)


def tile_relations(relations: Tensor, n: int) -> Tensor:
    """Return relations of n images as relations of their 2n views, checked.

    Parameters
    ----------
    relations : Tensor of shape (n, n)
        ``+1`` same, ``-1`` different, ``0`` unknown; zero diagonal.
    n : int
        Number of images in the batch.

    Returns
    -------
    relations : Tensor of shape (2n, 2n)
        View a first; two views of one image have relation 0 here.

    Raises
    ------
    InvalidParameterError
        If the shape is another, or an image has a relation to itself.
    """
    if relations.shape != (n, n):
        raise InvalidParameterError(
            f"relations of a batch of {n} images must have shape ({n}, {n}), got "
            f"{tuple(relations.shape)}."
        )
    itself = relations.diagonal().nonzero()
    if len(itself) > 0:
        raise InvalidParameterError(
            "The diagonal of relations must be 0, got a relation of an image to itself at "
            f"[{int(itself[0])}, {int(itself[0])}]."
        )
    return relations.repeat(2, 2)


def nt_xent(rows_a: Tensor, rows_b: Tensor, *, temperature: float) -> Tensor:
    r"""Return NT-Xent, in which row ``i`` of one view matches row ``i`` of the other.

    For projections it contrasts images; for *transposed* assignment probabilities it
    contrasts clusters.

    Parameters
    ----------
    rows_a, rows_b : Tensor of shape (n, d)
        The two views; row ``i`` of both shows the same thing. They need not
        be normalised.
    temperature : float
        :math:`\tau > 0`; smaller values give more weight to the nearest negatives.

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

    Fidelity: the printed sums count a row among its own negatives; the authors'
    text and code do not, and neither do we.
    """
    n = len(rows_a)
    similarity = similarities(rows_a, rows_b, temperature=temperature)  # (2n, 2n)
    similarity.fill_diagonal_(-torch.inf)
    partner = torch.arange(2 * n, device=similarity.device).roll(n)  # i <-> i + n
    return F.cross_entropy(similarity, partner)


def occ_contrastive(
    rows_a: Tensor,
    rows_b: Tensor,
    relations: Tensor,
    *,
    weight: float,
    temperature: float,
    similarity: str = "cosine",
    include_self: bool = False,
) -> Tensor:
    r"""Return OCC's NT-Xent, whose positives are summed inside the logarithm.

    The gradient goes to the positive that is nearest already; see
    `constrained_nt_xent` for the mean over positives.

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
        Count a row among its own negatives, as the paper prints.

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
    without answers the loss is `nt_xent` plus :math:`\log n`.

    Fidelity: :math:`C_{ii} = 0`, where the printed definition makes a row its own
    positive. The printed denominator holds the row itself, codes do not:
    ``include_self`` decides. "Different" is not used; that is the paper's.
    """
    if not weight >= 0:
        raise InvalidParameterError(
            f"weight must be >= 0, got {weight}; a negative value pushes must-links apart."
        )
    n = len(rows_a)
    s = similarities(rows_a, rows_b, temperature=temperature, kind=similarity)  # (2n, 2n)
    itself = torch.eye(2 * n, dtype=torch.bool, device=s.device)
    positives = (tile_relations(relations, n) == 1).to(s.dtype) * weight  # (2n, 2n)
    log_c = (n + positives.sum(dim=1) / 2).log()  # (2n,); each image stands there twice
    positives = positives + itself.roll(n, dims=1)
    negatives = s if include_self else s.masked_fill(itself, -torch.inf)
    numerator = (s + positives.log()).logsumexp(dim=1)
    return (log_c + negatives.logsumexp(dim=1) - numerator).mean()
