"""PICA, IDFD, GCC, MiCE, SPICE and TOD: losses by loops, and what each is known for."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import make_blobs

from likewise.errors import PoolExhaustedError
from likewise.estimators.params import TrainingPlan
from likewise.estimators.registry import method_class
from likewise.methods.rivals.gcc import GCC
from likewise.methods.rivals.idfd import IDFD, decorrelation
from likewise.methods.rivals.mice import ExpertNetwork
from likewise.methods.rivals.pica import partition_uncertainty
from likewise.methods.rivals.spice import NOBODY, agreement, prototype_labels
from likewise.methods.rivals.tod import TOD
from likewise.methods.rivals.two_views import Bank
from likewise.metrics import accuracy
from likewise.nn.training import generator
from likewise.oracles.simulated import LabelOracle
from likewise.seeds import stream
from tests.methods.rivals.crossed import SMALL, crossed

X, Y = make_blobs(120, n_features=10, centers=3, random_state=0)
PLAN = TrainingPlan(warmup_epochs=8, epochs_per_round=12, batch_size=60, learning_rate=0.01)


@pytest.mark.parametrize("name", ["pica", "idfd", "gcc", "mice", "spice"])
def test_each_finds_groups_that_lie_apart(name: str) -> None:
    given: dict[str, Any] = {"plan": PLAN, "architecture": SMALL, "random_state": 0}
    model = method_class(name)(n_clusters=3, **given).fit(X)
    assert accuracy(Y, model.labels_) > 0.95
    if name == "pica":  # its published property: nearly one-hot, of equal sizes
        assert model.probabilities_.max(axis=1).mean() > 0.9
        np.testing.assert_allclose(model.probabilities_.mean(axis=0), 1 / 3, atol=0.1)


def softmax_loss(alike: list[list[float]]) -> float:
    """Return the mean over rows of minus the log share of the diagonal."""
    return sum(
        -math.log(math.exp(row[k]) / sum(math.exp(value) for value in row))
        for k, row in enumerate(alike)
    ) / len(alike)


def test_partition_uncertainty_is_its_formula() -> None:
    a, b = torch.rand(2, 6, 3, generator=generator(0, "p")).softmax(dim=2)
    alike = [
        [float(a[:, k] @ b[:, m] / (a[:, k].norm() * b[:, m].norm())) for m in range(3)]
        for k in range(3)
    ]
    assert partition_uncertainty(a, b).item() == pytest.approx(softmax_loss(alike), rel=1e-5)


def test_decorrelation_is_its_formula_and_least_for_orthogonal_columns() -> None:
    z = torch.randn(6, 3, generator=generator(0, "z"))
    alike = [
        [float(z[:, k] @ z[:, m] / (z[:, k].norm() * z[:, m].norm())) / 2 for m in range(3)]
        for k in range(3)
    ]
    assert decorrelation(z, 2.0).item() == pytest.approx(softmax_loss(alike), rel=1e-5)
    assert decorrelation(torch.eye(3), 2.0) < decorrelation(z, 2.0)


def test_idfd_leaves_dimensions_nearly_uncorrelated() -> None:
    """Against the same without the term: a temperature so high that it says nothing."""
    given: dict[str, Any] = {"n_clusters": 3, "plan": PLAN, "architecture": SMALL}
    found = []
    for temperature in (2.0, 1e6):
        model = IDFD(decorrelation_temperature=temperature, random_state=0, **given).fit(X)
        z = model.transform(X)
        z = z / np.linalg.norm(z, axis=0)
        found.append(np.abs(z.T @ z - np.eye(16)).mean())
    assert found[0] < 0.8 * found[1]


def test_a_bank_moves_rows_and_knows_neighbours() -> None:
    bank = Bank(4, 2, generator(0, "bank"), momentum=0.5)
    bank.rows = torch.tensor([[1.0, 0.0], [0.9, 0.436], [0.0, 1.0], [-1.0, 0.0]])
    assert bank.neighbours(1)[:, 0].tolist() == [1, 0, 1, 2]
    bank.move(np.array([0]), torch.tensor([[0.0, 1.0]]))
    torch.testing.assert_close(bank.rows[0], torch.tensor([0.5**0.5, 0.5**0.5]))
    torch.testing.assert_close(bank.rows[3], torch.tensor([-1.0, 0.0]))


def test_the_neighbours_of_gcc_are_those_of_the_graph() -> None:
    model = GCC(n_clusters=3, plan=PLAN, architecture=SMALL, random_state=0).fit(X)
    batch = stream(0, "batch").permutation(120)[:40]  # some are near one way only
    joined = model._joined(batch)
    for i, one in enumerate(batch):
        for j, other in enumerate(batch):
            near = other in model._nearest[one] or one in model._nearest[other]
            assert bool(joined[i, j]) == (near and i != j)
    drawn = model._a_neighbour(0, batch)
    assert all(drawn[i] in model._nearest[one] for i, one in enumerate(batch))
    agree = (model.labels_[model._nearest] == model.labels_[:, None]).mean()
    assert agree > 0.95


def test_the_queue_of_mice_takes_the_newest_and_its_directions_lie_apart() -> None:
    network = ExpertNetwork(
        torch.nn.Identity(), 5, width=4, n_clusters=3, n_queue=6, temperature=0.5
    )
    newest, old = torch.ones(4, 3, 4), network.queue.clone()
    network.enqueue(newest)
    torch.testing.assert_close(network.queue[:4], newest)
    torch.testing.assert_close(network.queue[4:], old[:2])
    cosines = network.directions @ network.directions.T
    torch.testing.assert_close(cosines, torch.eye(3))
    assert network.expertise(torch.randn(2, 5)).shape == (2, 3, 4)


def test_spice_labels_as_many_images_for_every_prototype() -> None:
    z = torch.nn.functional.normalize(torch.randn(90, 5, generator=generator(0, "z")), dim=1)
    p = torch.randn(90, 3, generator=generator(1, "p")).softmax(dim=1)
    labels = prototype_labels(z.numpy(), p.numpy(), 0.5)
    sizes = np.bincount(labels[labels != NOBODY], minlength=3)
    assert (sizes <= 30).all()
    assert sizes.sum() + (labels == NOBODY).sum() == 90
    clear = np.repeat(np.eye(3, dtype=np.float32), 30, axis=0)
    assert prototype_labels(clear, clear, 0.5).tolist() == np.repeat([0, 1, 2], 30).tolist()
    assert agreement(clear, clear, 5).min() == 1


def test_tod_changes_its_mind_where_it_was_wrong() -> None:
    rows, _, meant = crossed()
    plan = PLAN.but(n_rounds=3, warmup_epochs=0)
    model = TOD(n_clusters=2, plan=plan, architecture=SMALL, random_state=0).start(rows)
    first = model.ask(10)
    model.tell(first, LabelOracle(meant).answer(first))
    model.train(3)
    before = model.probabilities_.argmax(axis=1)
    earlier = model.probabilities_[:, np.argsort(model._columns)]
    more = model.ask(10)
    model.tell(more, LabelOracle(meant).answer(more))
    model.train(12)
    changed = np.linalg.norm(model.probabilities_[:, np.argsort(model._columns)] - earlier, axis=1)
    np.testing.assert_allclose(model.discrepancy_, changed, atol=1e-5)
    names = {int(model.labels_[q.images[0]]): meant[q.images[0]] for q in more}
    right = np.array([names.get(int(c), -1) for c in before]) == meant
    assert 0 < right.sum() < len(rows)
    assert model.discrepancy_[~right].mean() > model.discrepancy_[right].mean()
    with pytest.raises(PoolExhaustedError, match="141 labels were asked for but only 140 images"):
        model.ask(141)
