"""Scaling of feature blocks before the first layer: principal axes and unit variance."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.extmath import randomized_svd
from torch import Tensor, nn

_IN_ALL, _AT_LEAST = 512, 64  # columns kept of all facets together, and of one
_ROWS = 5_000  # rows from which axes are found


class FacetAxes(nn.Module):
    """Keep the main axes of every wide facet; fitted once, saved with the model.

    A thousand pictures span far fewer directions than an encoder has columns; a step costs
    in proportion to the columns. Nothing is rescaled: an axis is as long as it was.

    Parameters
    ----------
    slices : mapping of str to slice
        Which columns belong to which facet.
    n_columns : int

    Attributes
    ----------
    slices : dict of str to slice
        Where each facet lies afterwards.
    """

    def __init__(self, slices: Mapping[str, slice], n_columns: int) -> None:
        super().__init__()
        self._before = dict(slices)
        self.slices = narrowed(slices)
        self.n_out = max(part.stop for part in self.slices.values())
        self.axes: Tensor
        self.register_buffer("axes", torch.zeros(n_columns, self.n_out))

    def fit(self, rows: npt.NDArray[np.float32]) -> None:
        """Learn the axes from at most 5,000 evenly spaced rows, which are centred."""
        sample = rows[:: -(-len(rows) // _ROWS)]
        for name, columns in self._before.items():
            kept = self.slices[name]
            found = _main_axes(sample[:, columns], kept.stop - kept.start)
            self.axes[columns, kept.start : kept.start + found.shape[1]] = torch.from_numpy(found)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the rows along their axes, ``(b, n_out)``."""
        return rows @ self.axes


def narrowed(slices: Mapping[str, slice]) -> dict[str, slice]:
    """Return where each facet lies once the wide ones are narrowed; 512 columns or so in all."""
    most = max(_IN_ALL // len(slices), _AT_LEAST)
    found, start = {}, 0
    for name, columns in slices.items():
        stop = start + min(columns.stop - columns.start, most)
        found[name], start = slice(start, stop), stop
    return found


def _main_axes(rows: npt.NDArray[np.float32], n: int) -> npt.NDArray[np.float32]:
    """Return up to `n` unit axes as columns, the longest first; all columns if they are as few."""
    width = rows.shape[1]
    if width <= n:
        return np.eye(width, dtype=np.float32)
    n = min(n, len(rows))
    axes: npt.NDArray[np.float32] = randomized_svd(rows, n, n_iter=2, random_state=0)[2].T
    return np.ascontiguousarray(axes, dtype=np.float32)


class FacetScaling(nn.Module):
    r"""Standardise columns and give facets equal weight; fitted once, saved with the model.

    Notes
    -----
    Column :math:`c` of facet :math:`f` with :math:`d_f` columns becomes
    :math:`(x_c - \mu_c) / \sigma_c \cdot \sqrt{d / (F d_f)}`, so that each of
    the :math:`F` facets contributes the same to a squared distance and one
    facet alone is plain standardisation.

    Parameters
    ----------
    slices : mapping of str to slice
        Which columns belong to which facet.
    n_columns : int
    """

    def __init__(self, slices: Mapping[str, slice], n_columns: int) -> None:
        super().__init__()
        self.slices = dict(slices)
        self.mean: Tensor
        self.scale: Tensor
        self.register_buffer("mean", torch.zeros(n_columns))
        self.register_buffer("scale", torch.ones(n_columns))

    def fit(self, matrix: npt.NDArray[np.floating], *, rows: int = 20_000) -> None:
        """Learn mean and spread from at most `rows` evenly spaced rows of `matrix`."""
        step = -(-len(matrix) // rows)
        sample = np.asarray(matrix[::step], dtype=np.float64)
        mean, std = sample.mean(axis=0), sample.std(axis=0)
        n_columns = matrix.shape[1]
        weight = np.ones(n_columns)
        for columns in self.slices.values():
            width = columns.stop - columns.start
            weight[columns] = np.sqrt(n_columns / (len(self.slices) * width))
        # A column that never changes says nothing: it becomes zero, not noise.
        tiny = std <= 1e-7 * np.maximum(1.0, np.abs(mean))
        scale = np.where(tiny, 0.0, weight / np.where(tiny, 1.0, std))
        self.mean.copy_(torch.from_numpy(mean))
        self.scale.copy_(torch.from_numpy(scale))

    def forward(self, x: Tensor) -> Tensor:
        """Return the scaled vectors, ``(b, d)``."""
        return (x - self.mean) * self.scale
