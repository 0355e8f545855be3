"""A loss of one's own: a plain function of tensors, and a method that adds it to CC's terms."""

from typing import Any

import torch
from sklearn.datasets import make_blobs
from torch import Tensor

from likewise.estimators.deep.cc import CC
from likewise.estimators.deep.relations import BatchRelations
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.params import TrainingPlan
from likewise.metrics import accuracy


def decisiveness(probabilities: Tensor) -> Tensor:
    """Return the mean entropy of the rows: an image should belong to one cluster.

    Parameters
    ----------
    probabilities : Tensor of shape (n, k)
    """
    entropies: Tensor = -torch.special.xlogy(probabilities, probabilities).sum(dim=1)
    return entropies.mean()


class DecisiveCC(CC):
    """CC whose assignments are pushed towards 0 and 1."""

    def _loss_terms(self, a: NetworkOutput, b: NetworkOutput, known: BatchRelations) -> dict[str, Tensor]:
        terms = super()._loss_terms(a, b, known)
        return {**terms, "decisiveness": 0.5 * (decisiveness(a.p) + decisiveness(b.p))}


def sharpness(model: Any) -> float:
    """Return how sure a model is of its clusters, on average."""
    return float(model.probabilities_.max(axis=1).mean())


# A loss is tested where its value is known by thought: even rows cost log k, sure ones nothing.
assert torch.isclose(decisiveness(torch.full((3, 4), 0.25)), torch.tensor(4.0).log())
assert decisiveness(torch.eye(4)) == 0

X, y = make_blobs(150, n_features=8, centers=3, random_state=0)
plan = TrainingPlan(epochs_per_round=4, batch_size=64)
plain = CC(3, plan=plan, random_state=0).fit(X)
ours = DecisiveCC(3, plan=plan, random_state=0).fit(X)
print(f"sure of its clusters: CC {sharpness(plain):.2f}, with the term {sharpness(ours):.2f}")
print(f"ACC: CC {accuracy(y, plain.labels_):.2f}, with the term {accuracy(y, ours.labels_):.2f}")
