"""The warning that training has collapsed, and trainings that have not."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
import torch

from likewise.errors import LikewiseWarning
from likewise.estimators.deep.cc import CC
from likewise.estimators.deep.collapse import (
    FIRST_STEPS,
    CollapseDetector,
    mean_cosine,
    relative_entropy,
)
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.params import TrainingPlan
from tests.estimators.made_data import TINY, two_factors

torch.set_num_threads(1)
X, _, _ = two_factors(60)
PLAN = TrainingPlan(epochs_per_round=6, batch_size=5)  # 12 steps an epoch


def detector(*, z: torch.Tensor, p: torch.Tensor) -> CollapseDetector:
    found = CollapseDetector(p.shape[1], len(z), "Do something else.")
    found.begin_epoch()
    for _ in range(FIRST_STEPS):
        found.add(NetworkOutput(z, z, p))
    return found


def rows(n: int = 40, d: int = 8) -> torch.Tensor:
    return torch.nn.functional.normalize(
        torch.randn(n, d, generator=torch.Generator().manual_seed(0)), dim=1
    )


def halves(n: int = 40) -> torch.Tensor:
    return torch.eye(2)[torch.arange(n) % 2]


TRAINING = {"instance": 3.0, "assignment": 3.0, "cluster": 0.9, "loss": 7.0}
ALIKE = torch.ones(40, 8) + 1e-3 * rows()
CONSTANT = {"instance": math.log(80), "assignment": math.log(80), "cluster": math.log(3)}


@pytest.mark.parametrize(
    ("z", "p", "means", "text"),
    [
        (ALIKE, halves(), TRAINING, r"almost the same projection \(mean cosine 1.0000\)"),
        (rows(), torch.eye(2)[[0] * 40], TRAINING, "all images are in one of 2 clusters"),
        (rows(), halves(), CONSTANT, "the loss is that of images which are all equal"),
    ],
)
def test_each_kind_of_collapse_gives_a_warning_once(
    z: torch.Tensor, p: torch.Tensor, means: dict[str, float], text: str
) -> None:
    found = detector(z=z, p=p)
    with pytest.warns(LikewiseWarning, match=rf"collapsed: in epoch 3 .*{text}.*Do something else"):
        found.warn(3, means)
    found.warn(4, means)


@pytest.mark.parametrize(
    ("epoch", "z", "p", "means"),
    [
        (3, rows(), halves(), TRAINING),
        (2, ALIKE, halves(), TRAINING),  # too early
        (3, ALIKE, halves(), {"class": 0.3}),  # not a contrastive loss
        (3, rows(), halves(), {**CONSTANT, "cluster": 1.05}),  # the clusters differ
        (3, rows(), torch.eye(2)[[0] * 40], {"simclr": 3.0}),  # clusters are not trained yet
    ],
)
def test_other_epochs_give_none(
    epoch: int, z: torch.Tensor, p: torch.Tensor, means: dict[str, float]
) -> None:
    detector(z=z, p=p).warn(epoch, means)


def test_a_training_that_collapses_is_reported_and_one_that_does_not_is_not() -> None:
    given: dict[str, Any] = {"n_clusters": 2, "architecture": TINY, "random_state": 0}
    CC(plan=PLAN, **given).fit(X)
    equal = np.ones_like(X)
    with pytest.warns(LikewiseWarning, match="in epoch 5 all images have almost the same"):
        CC(plan=PLAN, views="none", **given).fit(equal)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CC(plan=PLAN.replace(epochs_per_round=4), views="none", **given).fit(equal)
    assert not [w for w in caught if "collapsed" in str(w.message)]


def test_cosine_and_entropy() -> None:
    z = rows(5)
    pairs = [float(z[i] @ z[j]) for i in range(5) for j in range(5) if i != j]
    assert mean_cosine(z) == pytest.approx(sum(pairs) / 20, abs=1e-6)
    assert mean_cosine(z[:1]) == 0
    assert relative_entropy(torch.tensor([4, 4])) == pytest.approx(1)
    assert relative_entropy(torch.tensor([8, 0])) == 0
