"""Standardisation of vectors in which every feature block has the same weight."""

from collections.abc import Mapping
from typing import Self

import numpy as np
import numpy.typing as npt

from likewise.types import Floats

_N_SAMPLED = 20_000  # rows from which mean and standard deviation are estimated


class BlockScaler:
    r"""Standardise columns and give feature blocks equal weight.

    Parameters
    ----------
    slices : mapping of str to slice
        Columns of each feature block.
    n_columns : int

    Attributes
    ----------
    mean, scale : array of shape (n_columns,)

    Notes
    -----
    Column :math:`c` of block :math:`f` with :math:`d_f` columns becomes
    :math:`(x_c - \mu_c) / \sigma_c \cdot \sqrt{d / (F d_f)}`, so that each of the :math:`F`
    blocks contributes the same to a squared distance. With one block this is plain
    standardisation.
    """

    def __init__(self, slices: Mapping[str, slice], n_columns: int) -> None:
        self.slices = dict(slices)
        self.mean: Floats = np.zeros(n_columns, dtype=np.float32)
        self.scale: Floats = np.ones(n_columns, dtype=np.float32)

    def fit(self, matrix: npt.NDArray[np.floating], *, n_sampled: int = _N_SAMPLED) -> Self:
        """Estimate mean and scale from at most `n_sampled` evenly spaced rows of `matrix`."""
        step = -(-len(matrix) // n_sampled)
        sample = np.asarray(matrix[::step], dtype=np.float64)
        mean, std = sample.mean(axis=0), sample.std(axis=0)
        n_columns = matrix.shape[1]
        weight = np.ones(n_columns)
        for columns in self.slices.values():
            width = columns.stop - columns.start
            weight[columns] = np.sqrt(n_columns / (len(self.slices) * width))
        # A constant column becomes zero; dividing by its rounding error would give noise.
        is_constant = std <= 1e-7 * np.maximum(1.0, np.abs(mean))
        scale = np.where(is_constant, 0.0, weight / np.where(is_constant, 1.0, std))
        self.mean, self.scale = mean.astype(np.float32), scale.astype(np.float32)
        return self

    def transform(self, rows: Floats) -> Floats:
        """Return scaled rows, ``(n, d)``."""
        return (rows - self.mean) * self.scale
