"""Batch statistics shared by all processes, on any device."""

import torch
from torch import Tensor, nn

from likewise.engine.gather import n_processes, sum_over_processes


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
        The layer it stands in for; parameters and buffers are taken over.
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
