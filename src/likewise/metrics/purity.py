"""Purity: how much of each cluster is of one class."""

import numpy as np

from likewise.metrics.contingency import Contingency, Labels, contingency


def purity(truth: Labels, found: Labels) -> float:
    r"""Return the share of images that are of their cluster's commonest class.

    Several clusters may share a class, so many small clusters are always
    pure; look at `accuracy` too.

    Parameters
    ----------
    truth, found : sequence or array of shape (n,)

    Notes
    -----
    .. math:: \frac1n \sum_f \max_t |\{i : t_i = t, f_i = f\}|

    Examples
    --------
    >>> purity(["cat", "cat", "dog", "dog"], [0, 1, 2, 2])
    1.0
    """
    return purity_of(contingency(truth, found))


def purity_of(table: Contingency) -> float:
    """Return the purity of a contingency table."""
    most = np.zeros(len(table.found), dtype=np.int64)
    np.maximum.at(most, table.columns, table.cells)
    return float(most.sum() / table.n)
