"""One pass over the data. Nothing in this file knows what a cluster is."""

from collections import defaultdict
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from likewise.engine.order import Indexes
from likewise.engine.step import step

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
