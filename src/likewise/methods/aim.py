"""A representation turned to the criterion: what varies within groups counts less."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.methods.facets import leading
from likewise.methods.one_thread import on_one_thread

Floats = npt.NDArray[np.float32]
_SHRUNK = 0.3  # how much every direction varies anyway, in units of what is usual
_FIT_ROWS = 1_000  # rows from which leading directions are found
_SURELY = 4  # power of confidence: images of which little is believed hardly count


@dataclass(frozen=True)
class Aim:
    """A linear map of rows, scaled to unit length.

    Parameters
    ----------
    centre : tensor of shape (d,)
    axes : tensor of shape (d, c)
    """

    centre: Tensor
    axes: Tensor

    def __call__(self, rows: Tensor) -> Tensor:
        """Return unit rows ``(n, c)``."""
        return F.normalize((rows - self.centre) @ self.axes, dim=1, eps=1e-9)


@on_one_thread
def take_aim(rows: Floats, beliefs: Floats, n_columns: int, *, targeted: bool = True) -> Aim:
    r"""Return a map under which images of a group draw together.

    Parameters
    ----------
    rows : array of shape (n, d)
    beliefs : array of shape (n, k)
        How likely each image is in each group.
    n_columns : int
        Leading directions kept, of many.
    targeted : bool
        False keeps the leading directions as they are.

    Notes
    -----
    With beliefs :math:`q`, confidence :math:`c_i = \max_k q_{ik}^4` and groups' means
    :math:`\mu_k = \sum_i c_i q_{ik} x_i / \sum_i c_i q_{ik}`, what varies within groups is

    .. math:: S = \sum_i c_i r_i r_i^\top / \sum_i c_i, \quad r_i = x_i - \sum_k q_{ik} \mu_k,
              \qquad A = V \Big(S + 0.3 \tfrac{\operatorname{tr} S}{c} I\Big)^{-1/2} :

    within-class covariance normalisation [WCCN]_ in the leading directions :math:`V`, with soft
    groups that few answers have taught. Sorted by colour, two shirts of one colour differ in cut:
    directions of cut shrink, and what is left is nearer to the criterion.
    """
    centre = rows.mean(axis=0)
    around = rows - centre
    few = np.eye(rows.shape[1], dtype=np.float32)
    if rows.shape[1] > n_columns + 16:  # else all of them: `leading` needs some to leave out
        few = leading(around[:: -(-len(rows) // _FIT_ROWS)], n_columns)
    axes = few @ _evening_out(around @ few, beliefs) if targeted else few
    return Aim(torch.from_numpy(centre), torch.from_numpy(np.ascontiguousarray(axes)))


def _evening_out(rows: Floats, beliefs: Floats) -> Floats:
    """Return the inverse root of what varies within groups, shrunk, ``(c, c)``."""
    x, q = rows.astype(np.float64), beliefs.astype(np.float64)
    sure = q.max(axis=1) ** _SURELY
    shares = q * sure[:, None]
    means = shares.T @ x / np.maximum(shares.sum(axis=0), 1e-9)[:, None]
    rest = x - q @ means
    within = (rest * sure[:, None]).T @ rest / sure.sum()
    usual = max(float(np.trace(within)) / len(within), 1e-12)
    sizes, directions = np.linalg.eigh(within + _SHRUNK * usual * np.eye(len(within)))
    root: Floats = ((directions / np.sqrt(sizes)) @ directions.T).astype(np.float32)
    return root
