"""Compactness: how close an image is to its neighbours, as its importance."""

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.losses.distance import all_squared_distances

_CHUNK = 1024  # rows whose distances are held at once


@torch.no_grad()
def compactness(
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
    so it rescales the loss it weighs; the code has no compactness.
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
