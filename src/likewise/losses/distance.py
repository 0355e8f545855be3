"""Squared distances, precise also where float32 sums under autocast would not be."""

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.losses.similarity import at_least_float32


def squared_distances(rows: Tensor, centres: Tensor) -> Tensor:
    """Return the squared distance of row ``i`` to centre ``i``, ``(n,)``.

    Raises
    ------
    InvalidParameterError
        If there is not exactly one centre a row.
    """
    if rows.shape != centres.shape:
        raise InvalidParameterError(
            f"rows has shape {tuple(rows.shape)} and centres {tuple(centres.shape)}, but each row "
            "is pulled to one centre; index the centres by the rows' clusters first."
        )
    return (at_least_float32(rows) - at_least_float32(centres)).square().sum(dim=1)


def all_squared_distances(rows: Tensor, others: Tensor) -> Tensor:
    """Return the squared distance of every row to every other, ``(n, m)``.

    By differences, not by products: equal rows are at distance 0 exactly.
    """
    rows, others = at_least_float32(rows), at_least_float32(others)
    return torch.cdist(rows, others, compute_mode="donot_use_mm_for_euclid_dist").square()
