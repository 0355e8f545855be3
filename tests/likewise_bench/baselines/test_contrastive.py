"""PICA, IDFD, GCC, MiCE and SPICE: losses against loops, and their published properties."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import make_blobs

from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.params import TrainingPlan
from likewise.estimators.registry import method_class
from likewise.metrics import accuracy
from likewise.nn.training import generator
from likewise.random_streams import stream
from likewise_bench.baselines.gcc import GCC, GCCObjective
from likewise_bench.baselines.idfd import IDFD, MemoryBank, decorrelation_loss
from likewise_bench.baselines.mice import ExpertNetwork
from likewise_bench.baselines.pica import partition_confidence_loss
from likewise_bench.baselines.spice import NO_LABEL, neighbour_agreement, prototype_labels
from tests.likewise_bench.baselines.crossed_groupings import SMALL

X, Y = make_blobs(120, n_features=10, centers=3, random_state=0)
PLAN = TrainingPlan(warmup_epochs=8, epochs_per_round=12, batch_size=60, learning_rate=0.01)


@pytest.mark.parametrize("name", ["pica", "idfd", "gcc", "mice", "spice"])
def test_each_finds_separated_groups(name: str) -> None:
    given: dict[str, Any] = {"plan": PLAN, "architecture": SMALL, "random_state": 0}
    model = method_class(name)(n_clusters=3, **given).fit(X)
    assert accuracy(Y, model.labels_) > 0.95
    if name == "pica":  # its published property: nearly one-hot, equal sizes
        assert model.probabilities_.max(axis=1).mean() > 0.9
        np.testing.assert_allclose(model.probabilities_.mean(axis=0), 1 / 3, atol=0.1)


def softmax_loss(alike: list[list[float]]) -> float:
    """Return the mean over rows of minus the log share of the diagonal."""
    return sum(
        -math.log(math.exp(row[k]) / sum(math.exp(value) for value in row))
        for k, row in enumerate(alike)
    ) / len(alike)


def test_the_partition_confidence_loss_is_its_formula() -> None:
    a, b = torch.rand(2, 6, 3, generator=generator(0, "p")).softmax(dim=2)
    alike = [
        [float(a[:, k] @ b[:, m] / (a[:, k].norm() * b[:, m].norm())) for m in range(3)]
        for k in range(3)
    ]
    assert partition_confidence_loss(a, b).item() == pytest.approx(softmax_loss(alike), rel=1e-5)


def test_the_decorrelation_loss_is_its_formula_and_least_for_orthogonal_columns() -> None:
    z = torch.randn(6, 3, generator=generator(0, "z"))
    alike = [
        [float(z[:, k] @ z[:, m] / (z[:, k].norm() * z[:, m].norm())) / 2 for m in range(3)]
        for k in range(3)
    ]
    assert decorrelation_loss(z, 2.0).item() == pytest.approx(softmax_loss(alike), rel=1e-5)
    assert decorrelation_loss(torch.eye(3), 2.0) < decorrelation_loss(z, 2.0)


def test_idfd_decorrelates_the_columns_of_z() -> None:
    """Compared with a temperature so high that the decorrelation term is constant."""
    given: dict[str, Any] = {"n_clusters": 3, "plan": PLAN, "architecture": SMALL}
    found = []
    for temperature in (2.0, 1e6):
        model = IDFD(decorrelation_temperature=temperature, random_state=0, **given).fit(X)
        z = model.transform(X)
        z = z / np.linalg.norm(z, axis=0)
        found.append(np.abs(z.T @ z - np.eye(16)).mean())
    assert found[0] < 0.8 * found[1]


def test_a_memory_bank_updates_rows_and_finds_neighbours() -> None:
    bank = MemoryBank(4, 2, generator(0, "bank"), momentum=0.5)
    bank.rows = torch.tensor([[1.0, 0.0], [0.9, 0.436], [0.0, 1.0], [-1.0, 0.0]])
    assert bank.neighbours(1)[:, 0].tolist() == [1, 0, 1, 2]
    bank.update(np.array([0]), torch.tensor([[0.0, 1.0]]))
    torch.testing.assert_close(bank.rows[0], torch.tensor([0.5**0.5, 0.5**0.5]))
    torch.testing.assert_close(bank.rows[3], torch.tensor([-1.0, 0.0]))


def test_the_positives_of_gcc_are_the_neighbours_in_the_graph() -> None:
    model = GCC(n_clusters=3, plan=PLAN, architecture=SMALL, random_state=0).fit(X)
    learner = model.learner_
    assert isinstance(learner, NetworkLearner)
    objective = learner.objective
    assert isinstance(objective, GCCObjective)
    nearest = objective.nearest
    batch = stream(0, "batch").permutation(120)[:40]  # some neighbours are one-sided
    joined = objective.is_neighbour(batch)
    for i, one in enumerate(batch):
        for j, other in enumerate(batch):
            near = other in nearest[one] or one in nearest[other]
            assert bool(joined[i, j]) == (near and i != j)
    drawn = objective.random_neighbours(learner, 0, batch)
    assert all(drawn[i] in nearest[one] for i, one in enumerate(batch))
    agree = (model.labels_[nearest] == model.labels_[:, None]).mean()
    assert agree > 0.95


def test_the_queue_of_mice_keeps_the_newest_and_its_directions_are_orthogonal() -> None:
    network = ExpertNetwork(
        torch.nn.Identity(), 5, width=4, n_clusters=3, n_queue=6, temperature=0.5
    )
    newest, old = torch.ones(4, 3, 4), network.queue.clone()
    network.enqueue(newest)
    torch.testing.assert_close(network.queue[:4], newest)
    torch.testing.assert_close(network.queue[4:], old[:2])
    cosines = network.directions @ network.directions.T
    torch.testing.assert_close(cosines, torch.eye(3))
    assert network.expert_embeddings(torch.randn(2, 5)).shape == (2, 3, 4)


def test_spice_labels_equally_many_images_for_every_prototype() -> None:
    z = torch.nn.functional.normalize(torch.randn(90, 5, generator=generator(0, "z")), dim=1)
    p = torch.randn(90, 3, generator=generator(1, "p")).softmax(dim=1)
    labels = prototype_labels(z.numpy(), p.numpy(), 0.5)
    sizes = np.bincount(labels[labels != NO_LABEL], minlength=3)
    assert (sizes <= 30).all()
    assert sizes.sum() + (labels == NO_LABEL).sum() == 90
    clear = np.repeat(np.eye(3, dtype=np.float32), 30, axis=0)
    assert prototype_labels(clear, clear, 0.5).tolist() == np.repeat([0, 1, 2], 30).tolist()
    assert neighbour_agreement(clear, clear, 5).min() == 1
