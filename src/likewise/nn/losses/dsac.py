"""DSAC's losses: weighted cross-entropy, centre loss, compactness, self-paced weights."""

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.nn.losses.contrastive import at_least_float32


def squared_distances(rows: Tensor, centres: Tensor) -> Tensor:
    """Return the squared distance of row ``i`` to centre ``i``, ``(n,)``.

    Raises
    ------
    InvalidParameterError
        If there is not exactly one centre for each row.
    """
    if rows.shape != centres.shape:
        raise InvalidParameterError(
            f"centres must have one row for each of the rows, got {tuple(rows.shape)} rows and "
            f"{tuple(centres.shape)} centres; index the centres by the rows' clusters first."
        )
    return (at_least_float32(rows) - at_least_float32(centres)).square().sum(dim=1)


def all_squared_distances(rows: Tensor, others: Tensor) -> Tensor:
    """Return the squared distance of every row to every other, ``(n, m)``.

    By differences, not by products: equal rows are at distance 0 exactly.
    """
    rows, others = at_least_float32(rows), at_least_float32(others)
    return torch.cdist(rows, others, compute_mode="donot_use_mm_for_euclid_dist").square()


def weighted_cross_entropy(logits: Tensor, labels: Tensor, importance: Tensor) -> Tensor:
    r"""Return the mean cross-entropy, each image times its importance.

    Parameters
    ----------
    logits : Tensor of shape (n, k)
        Of the labelled images; with none of them the loss is 0.
    labels : Tensor of shape (n,)
        Class of each, an integer below k.
    importance : Tensor of shape (n,)
        :math:`C_i`, see `knn_compactness`.

    Returns
    -------
    loss : Tensor of shape ()

    Notes
    -----
    [DSAC]_ Eq. (4): :math:`\frac{1}{n} \sum_i C_i H(y_i, f(F_i))`.

    Fidelity: the code's label smoothing, which sums to 1 for ten classes only, is left out.
    """
    logits = at_least_float32(logits)
    if len(logits) == 0:
        return logits.sum()
    return (importance.to(logits) * F.cross_entropy(logits, labels, reduction="none")).mean()


def center_loss(
    rows: Tensor, labels: Tensor, centres: Tensor, importance: Tensor, *, gamma: float = 1.0
) -> Tensor:
    r"""Return the mean squared distance to the class centres, weighted by importance.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
        Embeddings of labelled images; with none of them the loss is 0.
    labels : Tensor of shape (n,)
        Class of each, an integer below k.
    centres : Tensor of shape (k, d)
        Class means over *all* labelled images, see `class_means`.
    importance : Tensor of shape (n,)
        :math:`C_i`, see `knn_compactness`.
    gamma : float
        :math:`\gamma`, the weight of the term.

    Returns
    -------
    loss : Tensor of shape ()

    Notes
    -----
    [DSAC]_ Eq. (5) and (6): :math:`\frac{\gamma}{n} \sum_i C_i \|F_i - c'_{y_i}\|^2`.

    Fidelity: on embeddings as printed; the code has it on logits, with weight 0.
    """
    distances = squared_distances(rows, centres[labels])
    if len(distances) == 0:
        return distances.sum()
    return gamma * (importance.to(distances) * distances).mean()


@torch.no_grad()
def class_means(rows: Tensor, labels: Tensor, n_classes: int) -> Tensor:
    """Return the mean row of each class, ``(n_classes, d)``; zeros for a class without rows."""
    rows = at_least_float32(rows)
    sums = rows.new_zeros(n_classes, rows.shape[1]).index_add_(0, labels, rows)
    counts = torch.bincount(labels, minlength=n_classes).clamp_min(1)
    return sums / counts[:, None]


_CHUNK = 1024  # rows whose distances are held at once


@torch.no_grad()
def knn_compactness(
    rows: Tensor,
    among: Tensor | None = None,
    *,
    n_neighbours: int = 6,
    floor: float = 0.1,
) -> Tensor:
    r"""Return the compactness of each row, 1 on average.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
    among : Tensor of shape (m, d), optional
        The rows that can be neighbours, including `rows`. By default `rows`.
    n_neighbours : int
        At least 1; fewer are taken where there are fewer.
    floor : float
        Above 0; added to a spread, as a fraction of the mean spread. A copy of
        another image then weighs at most ``1 + 1 / floor`` times one of mean spread.

    Returns
    -------
    compactness : Tensor of shape (n,)

    Notes
    -----
    [DSAC]_ Eq. (3), stabilised. With :math:`r_i` the mean squared distance to the
    neighbours and :math:`\bar r` its mean over rows,
    :math:`C_i \propto 1 / (r_i + \epsilon \bar r)`.

    Fidelity: the paper's :math:`1 / \sum` is infinite at copies and in arbitrary units,
    so it rescales the loss it weighs; the code has no compactness.
    """
    if n_neighbours < 1 or not floor > 0:
        raise InvalidParameterError(
            "n_neighbours must be at least 1 and floor greater than 0, got "
            f"n_neighbours={n_neighbours}, floor={floor}."
        )
    pool = rows if among is None else among
    k = min(n_neighbours, len(pool) - 1)
    if k < 1:
        return torch.ones(len(rows), device=rows.device)
    spread = torch.cat([_spread(part, pool, k) for part in rows.split(_CHUNK)])  # (n,)
    typical = spread.mean()
    if typical == 0:
        return torch.ones_like(spread)
    raw = 1 / (spread / typical + floor)
    return raw / raw.mean()


def _spread(rows: Tensor, pool: Tensor, k: int) -> Tensor:
    """Return the mean squared distance to the `k` nearest, without itself."""
    nearest = all_squared_distances(rows, pool).topk(k + 1, largest=False).values  # (n, k + 1)
    return nearest[:, 1:].mean(dim=1)


def self_paced(rows: Tensor, centres: Tensor, *, pace: float) -> Tensor:
    r"""Return the self-paced distance of rows to their centres.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
        Embeddings; with none of them the loss is 0.
    centres : Tensor of shape (n, d)
        The centre of each row's own cluster.
    pace : float
        :math:`\lambda`, the squared distance from which a row does not count; see
        `likewise.queries.density.pace`.

    Returns
    -------
    loss : Tensor of shape ()

    Notes
    -----
    [DSAC]_ Eq. (1), with :math:`d_i = \|F_i - c_i\|^2`, the mean over rows of

    .. math:: w_i d_i + \lambda (\tfrac12 w_i^2 - w_i), \qquad w_i = \max(1 - d_i / \lambda, 0)

    :math:`w` is Eq. (2), the minimiser for fixed rows, and has no gradient.

    Fidelity: the paper's squared distance and joint loss; the code's 1e-5 times
    the plain distance is not here.
    """
    distances = squared_distances(rows, centres)
    if len(distances) == 0:
        return distances.sum()
    w = self_paced_weights(distances, pace=pace)
    return (w * distances + pace * (w.square() / 2 - w)).mean()


def self_paced_weights(distances: Tensor, *, pace: float) -> Tensor:
    """Return the weight of each squared distance, 1 at the centre, 0 from `pace` on."""
    if not pace >= 0:
        raise InvalidParameterError(f"pace must be >= 0, got {pace}.")
    # At pace 0 only rows at their centre count, rather than 0/0.
    tiny = torch.finfo(distances.dtype).tiny
    return (1 - distances.detach() / max(pace, tiny)).clamp_min(0)
