"""Which cluster is which from training to training: groups keep name and colour by members."""

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from likewise.types import Indexes


def stable_columns(
    before: Indexes, now: Indexes, n_columns: int, weight: npt.ArrayLike = 1
) -> Indexes:
    """Return, for each place, the column of the new model that belongs there.

    Parameters
    ----------
    before : array of shape (n,)
        The place of each image after the training before; -1 where it had none.
    now : array of shape (n,)
        The column of each image in the new model.
    n_columns : int
    weight : array-like of shape (n,)
        How much an image counts; those that people spoke of count more.

    Examples
    --------
    >>> stable_columns(np.array([0, 0, 1]), np.array([1, 1, 0]), 2).tolist()
    [1, 0]
    """
    shared = np.zeros((n_columns, n_columns))
    is_known = (before >= 0) & (before < n_columns)
    counts = np.broadcast_to(np.asarray(weight, dtype=float), now.shape)
    np.add.at(shared, (before[is_known], now[is_known]), counts[is_known])
    return np.asarray(linear_sum_assignment(shared, maximize=True)[1], dtype=np.intp)
