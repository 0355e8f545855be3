"""Batches made by hand, to call the loss of a method on."""

from types import SimpleNamespace
from typing import Any, cast

import torch
from torch import Tensor

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.deep.objective import BatchRelations


def learner_of(model: InteractiveClusterer) -> NetworkLearner:
    """Return the learner of a deep method."""
    assert isinstance(model.learner_, NetworkLearner)
    return model.learner_


def loss_terms(
    model: InteractiveClusterer, a: NetworkOutput, b: NetworkOutput, relations: BatchRelations
) -> dict[str, Tensor]:
    """Return the loss terms of two views with these relations."""
    learner = learner_of(model)
    batch = SimpleNamespace(views=(a, b), relations=relations, learner=learner)
    return learner.objective.terms(cast(Any, batch))


def views(n: int = 6, k: int = 2) -> tuple[NetworkOutput, NetworkOutput]:
    """Return random outputs for two views of `n` images."""
    rng = torch.Generator().manual_seed(0)
    a, b = (
        NetworkOutput(
            torch.randn(n, 5, generator=rng),
            torch.randn(n, 4, generator=rng),
            torch.randn(n, k, generator=rng).softmax(1),
        )
        for _ in range(2)
    )
    return a, b


def no_relations(n: int = 6) -> BatchRelations:
    """Return the relations of a batch without answers."""
    return BatchRelations(torch.zeros(n, n, dtype=torch.int8), torch.zeros(n, n, dtype=torch.int8))


def with_relation(value: int, n: int = 6) -> BatchRelations:
    """Return relations with one pair answered."""
    found = no_relations(n)
    found.relations[0, 1] = found.relations[1, 0] = value
    return found
