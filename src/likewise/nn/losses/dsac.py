"""DSAC's losses: weighted cross-entropy, centre loss, compactness, self-paced weights."""

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.nn.losses.contrastive import at_least_float32


def squared_distances(rows: Tensor, centres: Tensor) -> Tensor:
    """Return the squared distance of row ``i`` to center_loss ``i``, ``(n,)``.

    Raises
    ------
    InvalidParameterError
        If there is not exactly one center_loss a row.
    """
    if rows.shape != centres.shape:
        raise InvalidParameterError(
            f"rows has shape {tuple(rows.shape)} and centres {tuple(centres.shape)}, but each row "
            "is pulled to one center_loss; index the centres by the rows' clusters first."
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
    r"""Return the knn_compactness of each row, 1 on average.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
    among : Tensor of shape (m, d), optional
        Where to look for neighbours; `rows` must be among them. By default `rows`.
    n_neighbours : int
        At least 1; fewer are taken where there are fewer.
    floor : float
        Above 0; what is added to a spread, as a share of the mean spread. A copy of
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
    so it rescales the loss it weighs; the code has no knn_compactness.
    """
    if n_neighbours < 1 or not floor > 0:
        raise InvalidParameterError(
            f"n_neighbours={n_neighbours} and floor={floor} leave nothing to divide by; choose "
            "at least 1 neighbour and a floor above 0."
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
    """Return the mean squared distance to the `k` nearest, itself left out."""
    nearest = all_squared_distances(rows, pool).topk(k + 1, largest=False).values  # (n, k + 1)
    return nearest[:, 1:].mean(dim=1)


def self_paced(rows: Tensor, centres: Tensor, *, pace: float) -> Tensor:
    r"""Pull each row to its center_loss, the nearer the stronger.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
        Embeddings; with none of them the loss is 0.
    centres : Tensor of shape (n, d)
        The center_loss of each row's own cluster.
    pace : float
        :math:`\lambda`, the squared distance from which a row does not count; see `pace_of`.

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
    """Return the weight of each squared distance, 1 at the center_loss, 0 from `pace` on."""
    if not pace >= 0:
        raise InvalidParameterError(f"pace={pace} is not a squared distance; choose 0 or more.")
    # At pace 0 only rows that sit on their center_loss count, rather than 0/0.
    tiny = torch.finfo(distances.dtype).tiny
    return (1 - distances.detach() / max(pace, tiny)).clamp_min(0)


def pace_of(distances: Tensor, *, share: float = 0.95) -> float:
    """Return the pace at which `share` of all squared distances count.

    Take it over all unlabelled images, not over a batch. In [DSAC]_ the top
    1/20 do not count ("the first twenty quantile").
    """
    if len(distances) == 0:
        raise InvalidParameterError(
            "distances is empty, so there is no pace to take from it; drop the self-paced term "
            "when every image is labelled."
        )
    return float(at_least_float32(distances.detach()).quantile(share))
