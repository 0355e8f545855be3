"""Images as their neighbours show them: what alike images share, not what is each one's own."""

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

Floats = npt.NDArray[np.float32]
_WITNESSES = 2_000  # images among which neighbours are found
_NEIGHBOURS = 10
_WIDTH = 64  # leading columns that are compared
_SAME = 1 - 1e-5  # cosine from which two rows are one picture
_AT_ONCE = 8_192


def witnesses(rows: Floats) -> Floats:
    """Return evenly spaced unit rows, narrowed, among which neighbours are found."""
    return narrow(rows[:: -(-len(rows) // _WITNESSES)])


def in_company(rows: Floats, among: Floats) -> Floats:
    r"""Return each row as the mean of its nearest among the `witnesses`, of unit length.

    Notes
    -----
    :math:`c_i = \sum_{j \in N(i)} u_j`, scaled to length one, with :math:`N(i)` the ten
    witnesses nearest to :math:`u_i` that are not the same picture. Averaging takes away what is
    each image's own, so groups draw together along the shape of the collection, as in
    transductive few-shot learning. It never looks at other rows that happen to be given, so
    what is predicted of an image does not depend on its companions.

    Parameters
    ----------
    rows : array of shape (n, d)
        Unit rows, leading directions first.
    among : array of shape (m, at most d)
    """
    found = np.empty((len(rows), among.shape[1]), dtype=np.float32)
    for at in range(0, len(rows), _AT_ONCE):
        part = torch.from_numpy(narrow(rows[at : at + _AT_ONCE]))
        found[at : at + _AT_ONCE] = _mean_of_nearest(part, among).numpy()
    return found


def narrow(rows: Floats) -> Floats:
    """Return the leading columns, of unit length again."""
    few = rows[:, :_WIDTH]
    unit: Floats = few / np.linalg.norm(few, axis=1, keepdims=True).clip(1e-9)
    return unit


def _mean_of_nearest(rows: Tensor, among: Floats) -> Tensor:
    others = torch.from_numpy(among)
    cosines = rows @ others.T
    cosines[cosines > _SAME] -= 4.0  # itself: only if there is nobody else
    nearest = cosines.topk(min(_NEIGHBOURS, len(among)), dim=1).indices
    mean = F.embedding_bag(nearest, others, mode="mean")
    return F.normalize(mean, dim=1, eps=1e-9)
