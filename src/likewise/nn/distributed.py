"""Training on several processes: gathered batches, synchronised batch normalisation, exit."""

import os
import sys
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


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
    """Return the number of processes that train together; 1 outside of torchrun."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def gather_rows(rows: Tensor) -> Tensor:
    r"""Return the rows of all processes in rank order: the whole batch in every process.

    Every process then computes the same loss :math:`L` of the whole batch. The
    backward pass sums over the :math:`W` processes, so each holds
    :math:`W\, \partial L / \partial` of its own rows, and averaging gradients
    over processes (see ``training.py``) gives exactly those of one process.
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


class SharedBatchNorm(nn.Module):
    r"""Batch normalisation whose mean and variance are those of the whole batch.

    Notes
    -----
    With sums over all processes, :math:`\mu = \sum x / m` and, in a second
    pass so that nothing cancels, :math:`\sigma^2 = \sum (x - \mu)^2 / m`.
    torch's ``SyncBatchNorm`` does the same but refuses CPU tensors.

    Parameters
    ----------
    norm : nn.modules.batchnorm._BatchNorm
        The layer it replaces, whose parameters and buffers it has.
    """

    def __init__(self, norm: nn.modules.batchnorm._BatchNorm) -> None:
        super().__init__()
        self.weight, self.bias = norm.weight, norm.bias
        self.eps, self.momentum = norm.eps, norm.momentum
        self.running_mean: Tensor
        self.running_var: Tensor
        self.num_batches_tracked: Tensor
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            self.register_buffer(name, getattr(norm, name))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise ``(b, c)`` or ``(b, c, h, w)`` over all but the channels."""
        shape = (1, -1, *([1] * (x.dim() - 2)))
        values = x.to(self.running_mean.dtype)
        if self.training:
            mean, var = self._batch_statistics(values, shape)
        else:
            mean, var = self.running_mean, self.running_var
        scale = self.weight * torch.rsqrt(var + self.eps)
        centred = values - mean.view(shape)
        return (centred * scale.view(shape) + self.bias.view(shape)).to(x.dtype)

    def _batch_statistics(self, x: Tensor, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        axes = [axis for axis in range(x.dim()) if axis != 1]
        count = sum_over_processes(torch.tensor(float(x.numel() // x.shape[1]), device=x.device))
        mean = sum_over_processes(x.sum(axes)) / count
        var = sum_over_processes((x - mean.view(shape)).square().sum(axes)) / count
        with torch.no_grad():
            unbiased = var * count / (count - 1).clamp(min=1)
            momentum = 0.1 if self.momentum is None else self.momentum
            self.running_mean.lerp_(mean, momentum)
            self.running_var.lerp_(unbiased, momentum)
            self.num_batches_tracked += 1
        return mean, var


def share_batch_statistics(network: nn.Module) -> nn.Module:
    """Replace every batch normalisation inside `network`, if there are several processes."""
    if n_processes() == 1:
        return network
    for name, child in network.named_children():
        if isinstance(child, nn.modules.batchnorm._BatchNorm):
            setattr(network, name, SharedBatchNorm(child))
        else:
            share_batch_statistics(child)
    return network


def leave() -> None:
    """End one of several processes at once; a single process returns.

    With several processes, the usual exit sometimes fails with *terminate called without an
    active exception*, since a thread of torch is still running when its library is unloaded
    (one of eight runs, torch 2.13.0). Everything is written by then, but torchrun would report
    a failure.
    """
    if not torch.distributed.is_initialized():
        return
    torch.distributed.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
