"""Accuracy under the best one-to-one naming of clusters; arguments are (truth, found)."""

import numpy as np

from likewise.errors import InvalidParameterError
from likewise.metrics.contingency import Contingency, Labels, contingency

_MAX_CELLS = 100_000_000


def accuracy(truth: Labels, found: Labels) -> float:
    r"""Return the share of images labelled right when clusters are named as well as can be.

    Parameters
    ----------
    truth, found : sequence or array of shape (n,)

    Returns
    -------
    accuracy : float
        From 0 to 1. One cluster for everything gives the share of the largest class.

    Notes
    -----
    .. math:: \mathrm{ACC} = \max_\pi \frac1n \sum_i [t_i = \pi(f_i)]

    over one-to-one names :math:`\pi`, found by the Hungarian method. Where
    there are more clusters than classes, or fewer, the rest stay without a
    partner and their images count as wrong.

    Examples
    --------
    >>> accuracy(["cat", "cat", "dog"], [1, 1, 0])
    1.0
    """
    return accuracy_of(contingency(truth, found))


def accuracy_of(table: Contingency) -> float:
    """Return the accuracy of a contingency table."""
    # Imported here since it takes longer than all the rest of this room.
    from scipy.optimize import linear_sum_assignment

    shape = len(table.truth), len(table.found)
    if shape[0] * shape[1] > _MAX_CELLS:
        raise InvalidParameterError(
            f"{shape[0]} classes against {shape[1]} clusters are too many to match one to one; "
            "give group labels, not one value an image."
        )
    counts = np.zeros(shape, dtype=np.int64)
    counts[table.rows, table.columns] = table.cells
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return float(counts[rows, columns].sum() / table.n)
