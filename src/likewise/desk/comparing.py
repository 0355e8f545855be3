"""Two ways to sort the same pictures, side by side: who is where in both."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.desk.gallery import Gallery
from likewise.session.groups import Group
from likewise.types import Indexes


@dataclass(frozen=True)
class Comparison:
    """How two galleries of the same pictures go together.

    Parameters
    ----------
    rows, columns : tuple of Group
        The groups of the first and of the second.
    counts : array of shape (rows, columns)
        Pictures that are in both groups.
    pictures : list of list of array
        Some of them for each cell, the surest first.
    n_images : int
        Pictures that are in a group of both.
    ari, nmi : float
        0: one says nothing about the other. 1: they are the same.
    """

    rows: tuple[Group, ...]
    columns: tuple[Group, ...]
    counts: npt.NDArray[np.intp]
    pictures: list[list[Indexes]]
    n_images: int
    ari: float
    nmi: float


def compare(first: Gallery, second: Gallery, n_shown: int = 6) -> Comparison:
    """Return the table of two galleries, with at most `n_shown` pictures a cell."""
    from likewise.metrics import ari, nmi  # scikit-learn: not needed to start the server

    n = min(len(first.group_of), len(second.group_of))  # one may know of newer pictures
    one, other = first.group_of[:n], second.group_of[:n]
    both = np.flatnonzero((one >= 0) & (other >= 0))
    counts = np.zeros((len(first.groups), len(second.groups)), dtype=np.intp)
    np.add.at(counts, (one[both], other[both]), 1)
    sure = first.confidence[:n][both] + second.confidence[:n][both]
    surest = both[np.argsort(-sure, kind="stable")]
    pictures = [
        [_some(surest, (one == row) & (other == column), n_shown) for column in range(len(line))]
        for row, line in enumerate(counts)
    ]
    alike = (ari(one[both], other[both]), nmi(one[both], other[both])) if len(both) else (0.0, 0.0)
    return Comparison(first.groups, second.groups, counts, pictures, len(both), *alike)


def _some(order: Indexes, is_in: npt.NDArray[np.bool_], n: int) -> Indexes:
    return order[is_in[order]][:n]
