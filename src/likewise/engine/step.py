"""One optimiser step from one loss, averaged over processes."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from likewise.engine.gather import n_processes
from likewise.errors import LikewiseError, UnknownNameError

OPTIMISERS: dict[str, type[torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": torch.optim.SGD,
}


def make_optimiser(
    parameters: Iterable[nn.Parameter], name: str, learning_rate: float, weight_decay: float
) -> torch.optim.Optimizer:
    """Return an optimiser by name."""
    if name not in OPTIMISERS:
        raise UnknownNameError("optimiser", name, OPTIMISERS)
    options = {"lr": learning_rate, "weight_decay": weight_decay}
    return OPTIMISERS[name](list(parameters), **options)  # type: ignore[arg-type]


def step(loss: Tensor, optimiser: torch.optim.Optimizer, *, clip_norm: float | None) -> None:
    """Follow the gradient of `loss` once.

    Raises
    ------
    LikewiseError
        If the loss is not a number; parameters are left as they were.
    """
    if not torch.isfinite(loss):
        raise LikewiseError(
            f"The loss became {loss.item()}, so training stopped before it could do harm; "
            "lower the step size, or look for extreme values among the vectors."
        )
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    parameters = [p for group in optimiser.param_groups for p in group["params"]]
    _average_gradients(parameters)
    if clip_norm is not None:
        nn.utils.clip_grad_norm_(parameters, clip_norm)
    optimiser.step()


def _average_gradients(parameters: list[nn.Parameter]) -> None:
    """Average gradients over processes, all in one message.

    Not DistributedDataParallel: a step here runs the network several times (views)
    before one backward pass, and every process computes the loss of the whole batch.
    """
    if n_processes() == 1:
        return
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = torch.cat([g.reshape(-1) for g in gradients])
    torch.distributed.all_reduce(flat)
    flat /= n_processes()
    for gradient, mean in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(mean.view_as(gradient))
