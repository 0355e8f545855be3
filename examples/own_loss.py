"""Write your own loss: a function of tensors, and an objective that adds it to CC's terms."""

from typing import Any

import torch
from sklearn.datasets import make_blobs
from torch import Tensor

from likewise import CC
from likewise.estimators.deep.cc import CCObjective
from likewise.estimators.deep.objective import Batch
from likewise.estimators.params import TrainingPlan
from likewise.metrics import accuracy


def assignment_entropy(probabilities: Tensor) -> Tensor:
    """Return the mean entropy of the rows: low if each image belongs to one cluster.

    Parameters
    ----------
    probabilities : Tensor of shape (n, k)
    """
    entropies: Tensor = -torch.special.xlogy(probabilities, probabilities).sum(dim=1)
    return entropies.mean()


class ConfidentObjective(CCObjective):
    """CC's loss and the entropy of the assignments."""

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        a, b = batch.views
        entropy = 0.5 * (assignment_entropy(a.p) + assignment_entropy(b.p))
        return {**super().terms(batch), "entropy": entropy}


class ConfidentCC(CC):
    """CC whose assignments are pushed towards 0 and 1."""

    def _make_parts(self, data: Any) -> Any:
        learner, questioner = super()._make_parts(data)
        learner.objective = ConfidentObjective(0.5, 1.0, "both")
        return learner, questioner


def confidence(model: Any) -> float:
    """Return the mean probability of the assigned clusters."""
    return float(model.probabilities_.max(axis=1).mean())


# A loss is tested where its value is known: uniform rows have entropy log k, one-hot rows 0.
assert torch.isclose(assignment_entropy(torch.full((3, 4), 0.25)), torch.tensor(4.0).log())
assert assignment_entropy(torch.eye(4)) == 0

X, y = make_blobs(150, n_features=8, centers=3, random_state=0)
plan = TrainingPlan(epochs_per_round=4, batch_size=64)
for cls in (CC, ConfidentCC):
    model = cls(3, plan=plan, random_state=0).fit(X)
    print(f"{cls.__name__}: {confidence(model):.2f}, ACC {accuracy(y, model.labels_):.2f}")
