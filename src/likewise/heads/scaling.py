"""Vectors made comparable: every column centred, every facet of equal weight."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn


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
