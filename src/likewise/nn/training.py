"""Training loop of a network: batch order, optimiser, one step, one epoch; all reproducible."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from likewise.errors import LikewiseError, UnknownNameError
from likewise.random_streams import derive, stream
from likewise.types import Indexes

SHARD = 64  # images whose random views are drawn together


def generator(seed: int, *names: str | int) -> torch.Generator:
    """Return a torch generator for the stream called `names`."""
    return torch.Generator().manual_seed(derive(seed, *names))


@contextmanager
def borrowed_global_generator(seed: int, *names: str | int) -> Iterator[None]:
    """Seed torch's global generator for a while, and restore its state afterwards.

    For code that draws from nothing else: layer initialisers, kornia.
    """
    with torch.random.fork_rng():
        torch.manual_seed(derive(seed, *names))
        yield


def shuffled_batches(n_images: int, batch_size: int, seed: int, epoch: int) -> Iterator[Indexes]:
    """Yield the global batches of one epoch, shuffled, each of exactly `batch_size`.

    The rest that does not fill a batch is left out of this epoch, as in the papers; the next
    epoch draws a new order. Fewer images than a batch are one batch.
    """
    order = stream(seed, "order", epoch).permutation(n_images).astype(np.intp)
    size = min(batch_size, n_images)
    for start in range(0, n_images - size + 1, size):
        yield order[start : start + size]


def process_share(batch_size: int, rank: int, n_processes: int) -> slice:
    """Return which positions of a global batch belong to one process.

    All processes have equal shares; a remainder is left out.
    """
    size = batch_size // n_processes
    return slice(rank * size, (rank + 1) * size)


def covering_shards(share: slice, batch_size: int) -> list[slice]:
    """Return the shards of a batch that contain the share of a process.

    Random views are drawn shard by shard, each from its own named seed, so they
    do not depend on the number of processes.
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
    """Return an optimiser by name, in torch's fused form: one pass over all parameters."""
    if name not in OPTIMISERS:
        raise UnknownNameError("optimiser", name, OPTIMISERS)
    options = {"lr": learning_rate, "weight_decay": weight_decay, "fused": True}
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


class TrainingStep(nn.Module):
    """One training step as a module; its forward pass returns the loss terms.

    DistributedDataParallel averages the gradients of a module that runs once before each
    backward pass; a step here runs the network several times (views), and its loss may use only
    some of the heads.

    Parameters
    ----------
    network : nn.Module
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, terms: Callable[..., dict[str, Tensor]], *args: Any) -> dict[str, Tensor]:
        """Return ``terms(*args)``, which uses the network."""
        return terms(*args)


def step(loss: Tensor, optimiser: torch.optim.Optimizer, *, clip_norm: float | None) -> None:
    """Take one step along the gradient of `loss`.

    Raises
    ------
    LikewiseError
        If the loss is not finite; parameters are not changed.
    """
    if not torch.isfinite(loss):
        raise LikewiseError(
            f"The loss must be finite, got {loss.item()}; training stopped. Lower the learning "
            "rate, or check the input for extreme values."
        )
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    if clip_norm is not None:
        parameters = [p for group in optimiser.param_groups for p in group["params"]]
        nn.utils.clip_grad_norm_(parameters, clip_norm)
    optimiser.step()


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
