"""Batch order, one optimiser step, and one training epoch."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from likewise.errors import LikewiseError, UnknownNameError
from likewise.nn.distributed import n_processes
from likewise.seeds import stream

Indexes = npt.NDArray[np.intp]
SHARD = 64  # images whose random views are drawn together


def shuffled_batches(n_images: int, batch_size: int, seed: int, epoch: int) -> Iterator[Indexes]:
    """Yield the global batches of one epoch, shuffled, each of exactly `batch_size`.

    What does not fill a batch is left out of this epoch (as in the papers) and,
    being drawn anew, comes in another; fewer images than a batch are one batch.
    """
    order = stream(seed, "order", epoch).permutation(n_images).astype(np.intp)
    size = min(batch_size, n_images)
    for start in range(0, n_images - size + 1, size):
        yield order[start : start + size]


def fixed_batches(n_images: int, batch_size: int) -> Iterator[Indexes]:
    """Yield the same batches in every epoch, in order: PCL's public code, for parity only."""
    size = min(batch_size, n_images)
    for start in range(0, n_images - size + 1, size):
        yield np.arange(start, start + size, dtype=np.intp)


def process_share(batch_size: int, rank: int, n_processes: int) -> slice:
    """Return which positions of a global batch belong to one process.

    Equal shares; positions that do not divide evenly are left out for all.
    """
    size = batch_size // n_processes
    return slice(rank * size, (rank + 1) * size)


share = process_share


def covering_shards(share: slice, batch_size: int) -> list[slice]:
    """Return the shards of a batch that a process must draw to have its share.

    Random views are drawn shard by shard, each from its own named seed, so they
    do not depend on how many processes there are.
    """
    first, last = share.start // SHARD, -(-share.stop // SHARD)
    return [slice(s * SHARD, min((s + 1) * SHARD, batch_size)) for s in range(first, last)]


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


def optimiser_state(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimiser's state as named tensors: ``"3/exp_avg"``."""
    state = optimiser.state_dict()["state"]
    return {
        f"{index}/{name}": torch.as_tensor(value).clone()
        for index, entry in state.items()
        for name, value in entry.items()
        if value is not None
    }


def restore_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Restore what `optimiser_state` returned."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        index, name = key.split("/", 1)
        state.setdefault(int(index), {})[name] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})


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


LossTerms = Callable[[int, Indexes], dict[str, Tensor]]  # (step, global batch) -> named terms


def train_epoch(
    batches: Iterable[Indexes],
    loss_terms: LossTerms,
    optimiser: torch.optim.Optimizer,
    *,
    clip_norm: float | None = None,
) -> dict[str, float]:
    """Take one step for each batch; return the mean of each loss term and of their sum."""
    sums: defaultdict[str, float] = defaultdict(float)
    n_steps = 0
    for number, indexes in enumerate(batches):
        terms = loss_terms(number, indexes)
        loss = torch.stack(list(terms.values())).sum()
        step(loss, optimiser, clip_norm=clip_norm)
        for name, term in {**terms, "loss": loss}.items():
            sums[name] += term.item()
        n_steps += 1
    return {name: total / n_steps for name, total in sums.items()}
