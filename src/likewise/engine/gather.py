"""Rows of all processes as one batch, with gradients that find their way home."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


class _GatherRows(torch.autograd.Function):
    """Concatenate equal blocks of rows over processes; gradients are summed over them."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        blocks = [torch.empty_like(rows) for _ in range(dist.get_world_size())]
        dist.all_gather(blocks, rows.contiguous())
        return torch.cat(blocks)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        total = grad.contiguous().clone()
        dist.all_reduce(total)
        return total.chunk(dist.get_world_size())[dist.get_rank()]


class _SumOver(torch.autograd.Function):
    """Sum a tensor over processes, in both directions."""

    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        total = values.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        total = grad.contiguous().clone()
        dist.all_reduce(total)
        return total


def n_processes() -> int:
    """Return how many processes train together; 1 outside of torchrun."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def gather_rows(rows: Tensor) -> Tensor:
    r"""Return the rows of all processes in rank order, the whole batch for everyone.

    Every process then computes the same loss :math:`L` of the whole batch. The
    backward pass sums over the :math:`W` processes, so each holds
    :math:`W\, \partial L / \partial` of its own rows, and averaging gradients
    over processes (see ``step.py``) gives exactly those of one process.
    """
    if n_processes() == 1:
        return rows
    gathered: Tensor = _GatherRows.apply(rows)  # type: ignore[no-untyped-call]  # torch
    return gathered


def sum_over_processes(values: Tensor) -> Tensor:
    """Return the sum of `values` over processes, with gradient."""
    if n_processes() == 1:
        return values
    total: Tensor = _SumOver.apply(values)  # type: ignore[no-untyped-call]  # torch
    return total
