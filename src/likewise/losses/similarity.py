"""How alike all rows of two views are: the one matrix every contrast starts from."""

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError

SIMILARITIES = ("cosine", "dot")
_NO_DIRECTION = 1e-12  # shorter rows point nowhere


def similarities(
    rows_a: Tensor, rows_b: Tensor, *, temperature: float, kind: str = "cosine"
) -> Tensor:
    """Return the similarity of every row of both views to every other, over `temperature`.

    Computed in float32 at least, also under bf16 autocast: divided by a small
    temperature, three digits are too few.

    Parameters
    ----------
    rows_a, rows_b : Tensor of shape (n, d)
        The two views, at least one row each.
    temperature : float
        Above 0.
    kind : {"cosine", "dot"}
        ``"dot"`` leaves the rows as long as they are.

    Returns
    -------
    similarity : Tensor of shape (2n, 2n)
        Rows of view a first, then those of view b.
    """
    _check(rows_a, rows_b, temperature, kind)
    with torch.autocast(rows_a.device.type, enabled=False):
        rows = at_least_float32(torch.cat([rows_a, rows_b]))  # (2n, d)
        if kind == "cosine":
            rows = unit_rows(rows)
        return rows @ rows.T / temperature


def unit_rows(rows: Tensor) -> Tensor:
    """Return `rows` at length one; a row of zeros stays zero and gets no gradient.

    Not ``F.normalize``: at a row of zeros its gradient is 1e12 times too large.
    """
    length = rows.norm(dim=1, keepdim=True)
    return torch.where(length > _NO_DIRECTION, rows / length.clamp_min(_NO_DIRECTION), 0.0)


def at_least_float32(values: Tensor) -> Tensor:
    """Return `values` in float32, or as they are if they are more precise."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def _check(rows_a: Tensor, rows_b: Tensor, temperature: float, kind: str) -> None:
    if rows_a.shape != rows_b.shape or rows_a.dim() != 2 or len(rows_a) == 0:
        raise InvalidParameterError(
            f"rows_a has shape {tuple(rows_a.shape)} and rows_b {tuple(rows_b.shape)}, but the two "
            "views must be matrices of one shape with at least one row; give row i of both views "
            "the same image."
        )
    if not temperature > 0:
        raise InvalidParameterError(
            f"temperature={temperature} does not order similarities; choose a value above 0."
        )
    if kind not in SIMILARITIES:
        raise UnknownNameError("similarity", kind, SIMILARITIES)
