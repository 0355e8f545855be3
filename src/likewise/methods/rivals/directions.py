"""The leading directions of vectors: thousands of columns made few, distances hardly changed."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from likewise.estimators.data import Data, VectorData
from likewise.methods.facets import leading
from likewise.nn.scaling import BlockScaling
from likewise.seeds import stream

WIDTH = 256
_FIT_ROWS = 8_000


class Directions(nn.Module):
    r"""Keep the `width` leading principal directions; fitted once, saved with the model.

    Notes
    -----
    They are turned, so that each column shows a little of all directions and none stands out:
    networks like it so, and a view that leaves columns out loses a little of everything. The
    rows are divided by one number, so that a column has mean square 1 on average ([DEC]_ section
    4.2). All distances keep their proportions. Where there are no more columns than `width`,
    they are kept as they are.

    Parameters
    ----------
    n_columns, width : int
    """

    def __init__(self, n_columns: int, width: int = WIDTH) -> None:
        super().__init__()
        self.n_out = min(n_columns, width)
        self.axes: Tensor
        self.register_buffer("axes", torch.zeros(n_columns, self.n_out))

    def fit(self, rows: npt.NDArray[np.float32]) -> None:
        """Learn from centred rows."""
        sample = rows[:: -(-len(rows) // _FIT_ROWS)]
        n_columns = sample.shape[1]
        axes = np.eye(n_columns, dtype=np.float32)
        if n_columns > self.n_out:
            axes = pca_axes(sample, self.n_out) @ _turn(self.n_out)
        typical = float(np.sqrt(np.square(sample @ axes).mean(dtype=np.float64)))
        self.axes.copy_(torch.from_numpy(axes / max(typical, 1e-12)))

    def forward(self, rows: Tensor) -> Tensor:
        """Return ``(b, n_out)``."""
        return rows @ self.axes


def _turn(width: int) -> npt.NDArray[np.float32]:
    """Return a rotation, always the same."""
    draws = stream(0, "turn").standard_normal((width, width))
    turn: npt.NDArray[np.float32] = np.linalg.qr(draws)[0].astype(np.float32)
    return turn


def make_scaling(source: Data, width: int = WIDTH) -> nn.Sequential:
    """Return scaled columns, then their leading directions, fitted if the vectors are there."""
    n_columns = source.n_columns
    assert n_columns is not None  # for vectors only
    scaling, directions = BlockScaling(source.slices, n_columns), Directions(n_columns, width)
    if isinstance(source, VectorData):
        scaling.fit(source.matrix)
        step = -(-len(source) // _FIT_ROWS)
        sample = torch.from_numpy(np.ascontiguousarray(source.matrix[::step], dtype=np.float32))
        directions.fit(scaling(sample).numpy())
    return nn.Sequential(scaling, directions)
