"""Scaling of vectors before the first layer: standardisation, and projection on principal axes."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.extmath import randomized_svd
from torch import Tensor, nn

_N_COLUMNS, _N_COLUMNS_OF_BLOCK = 512, 64  # kept of all blocks together, and at least of one
_N_ROWS = 5_000  # rows from which axes are found


class BlockScaling(nn.Module):
    """Standardise columns; mean and scale are buffers, saved with the network.

    Parameters
    ----------
    mean, scale : array of shape (n_columns,)
        As found by `likewise.estimators.block_scaling.BlockScaler`.
    """

    def __init__(self, mean: npt.NDArray[np.float32], scale: npt.NDArray[np.float32]) -> None:
        super().__init__()
        self.mean: Tensor
        self.scale: Tensor
        self.register_buffer("mean", torch.from_numpy(mean.copy()))
        self.register_buffer("scale", torch.from_numpy(scale.copy()))

    def forward(self, x: Tensor) -> Tensor:
        """Return the scaled vectors, ``(b, d)``."""
        return (x - self.mean) * self.scale


class BlockProjection(nn.Module):
    """Project every wide feature block on its principal axes; fitted once, saved with the network.

    A thousand images span far fewer directions than an encoder has columns, and a step costs
    in proportion to the columns. Axes are not rescaled.

    Parameters
    ----------
    slices : mapping of str to slice
        Columns of each feature block.
    n_columns : int

    Attributes
    ----------
    slices : dict of str to slice
        Columns of each block after the projection.
    """

    def __init__(self, slices: Mapping[str, slice], n_columns: int) -> None:
        super().__init__()
        self._before = dict(slices)
        self.slices = narrow_slices(slices)
        self.n_out = max(part.stop for part in self.slices.values())
        self.axes: Tensor
        self.register_buffer("axes", torch.zeros(n_columns, self.n_out))

    def fit(self, rows: npt.NDArray[np.float32]) -> None:
        """Find the axes from at most 5,000 evenly spaced rows, which are centred."""
        sample = rows[:: -(-len(rows) // _N_ROWS)]
        for name, columns in self._before.items():
            kept = self.slices[name]
            found = _principal_axes(sample[:, columns], kept.stop - kept.start)
            self.axes[columns, kept.start : kept.start + found.shape[1]] = torch.from_numpy(found)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the projected rows, ``(b, n_out)``."""
        return rows @ self.axes


def narrow_slices(slices: Mapping[str, slice]) -> dict[str, slice]:
    """Return the columns of each block once wide ones are projected; about 512 in all."""
    most = max(_N_COLUMNS // len(slices), _N_COLUMNS_OF_BLOCK)
    found, start = {}, 0
    for name, columns in slices.items():
        stop = start + min(columns.stop - columns.start, most)
        found[name], start = slice(start, stop), stop
    return found


def _principal_axes(rows: npt.NDArray[np.float32], n: int) -> npt.NDArray[np.float32]:
    """Return up to `n` unit axes as columns, the longest first; the identity if there are fewer."""
    width = rows.shape[1]
    if width <= n:
        return np.eye(width, dtype=np.float32)
    n = min(n, len(rows))
    axes: npt.NDArray[np.float32] = randomized_svd(rows, n, n_iter=2, random_state=0)[2].T
    return np.ascontiguousarray(axes, dtype=np.float32)
