"""Input of the baselines: standardised columns, reduced to their leading principal directions."""

import numpy as np
import torch
from torch import Tensor, nn

from likewise.estimators.data import Data, VectorData
from likewise.estimators.deep.inputs import block_scaling
from likewise.estimators.kernel.features import pca_axes
from likewise.random_streams import stream
from likewise.types import Floats

WIDTH = 256
_FIT_ROWS = 8_000


class LeadingDirections(nn.Module):
    r"""Keep the `width` leading principal directions; fitted once, saved with the model.

    Notes
    -----
    The directions are rotated, so that each column contains a part of all of them and none
    dominates: networks train better on such columns, and an augmentation that drops columns
    loses a part of every direction. The rows are divided by one number, so that columns have mean
    square 1 on average ([DEC]_ section 4.2). Distances keep their proportions. If there are no
    more columns than `width`, the columns themselves are kept.

    Parameters
    ----------
    n_columns, width : int
    """

    def __init__(self, n_columns: int, width: int = WIDTH) -> None:
        super().__init__()
        self.n_out = min(n_columns, width)
        self.axes: Tensor
        self.register_buffer("axes", torch.zeros(n_columns, self.n_out))

    def fit(self, rows: Floats) -> None:
        """Fit to centred rows."""
        sample = rows[:: -(-len(rows) // _FIT_ROWS)]
        n_columns = sample.shape[1]
        axes = np.eye(n_columns, dtype=np.float32)
        if n_columns > self.n_out:
            axes = pca_axes(sample, self.n_out) @ _rotation(self.n_out)
        root_mean_square = float(np.sqrt(np.square(sample @ axes).mean(dtype=np.float64)))
        self.axes.copy_(torch.from_numpy(axes / max(root_mean_square, 1e-12)))

    def forward(self, rows: Tensor) -> Tensor:
        """Return ``(b, n_out)``."""
        return rows @ self.axes


def _rotation(width: int) -> Floats:
    """Return a random rotation, always the same."""
    draws = stream(0, "turn").standard_normal((width, width))
    rotation: Floats = np.linalg.qr(draws)[0].astype(np.float32)
    return rotation


def make_scaling(data: Data, width: int = WIDTH) -> nn.Sequential:
    """Return standardisation and leading directions, fitted unless the vectors are missing."""
    n_columns = data.n_columns
    assert n_columns is not None  # vectors
    scaling = block_scaling(data)
    directions = LeadingDirections(n_columns, width)
    if isinstance(data, VectorData):
        step = -(-len(data) // _FIT_ROWS)
        sample = torch.from_numpy(np.ascontiguousarray(data.matrix[::step], dtype=np.float32))
        directions.fit(scaling(sample).numpy())
    return nn.Sequential(scaling, directions)
