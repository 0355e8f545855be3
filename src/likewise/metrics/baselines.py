"""What can be had for nothing: scores that a method must beat before they mean anything."""

from collections.abc import Iterable

import numpy as np

from likewise.metrics.contingency import Labels, encode
from likewise.metrics.matching import accuracy


def majority_accuracy(truth: Labels) -> float:
    """Return the accuracy of putting everything into one cluster: the largest class's share.

    Examples
    --------
    >>> majority_accuracy(["cat", "cat", "cat", "dog"])
    0.75
    """
    codes = encode(truth, "truth")
    return float(np.bincount(codes).max() / len(codes))


def other_orientation_acc(truth: Labels, others: Iterable[Labels]) -> float | None:
    """Return the best accuracy of sorting perfectly, but by another criterion.

    Parameters
    ----------
    truth : sequence or array of shape (n,)
        Labels of the orientation that is wanted.
    others : iterable of label columns of shape (n,)
        Labels of the same images by other orientations.

    Returns
    -------
    accuracy : float or None
        None if there is no other orientation.
    """
    return max((accuracy(truth, other) for other in others), default=None)
