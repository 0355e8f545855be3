"""Rounds that begin with an untrained network, and the metrics of each epoch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from likewise.errors import InvalidParameterError
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.occ import OCC
from likewise.estimators.deep.pcl import PCL
from likewise.estimators.params import TrainingPlan
from likewise.nn.losses.contrastive import occ_contrastive
from likewise.oracles.base import LabelOracle
from tests.estimators.deep.batches import learner_of
from tests.estimators.made_data import TINY, two_factors

X, BOLD, FAINT = two_factors(120)
FRESH = TrainingPlan(
    n_rounds=3, epochs_per_round=2, batch_size=40, learning_rate=0.01, reset_each_round=True
)


def make(plan: TrainingPlan = FRESH, **given: Any) -> OCC:
    return OCC(n_clusters=2, architecture=TINY, plan=plan, random_state=0, **given)


def test_every_round_begins_with_another_untrained_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[torch.Tensor] = []
    model = make()
    reset = NetworkLearner._reset_network

    def spied(learner: NetworkLearner) -> None:
        reset(learner)
        first = next(iter(learner.network.backbone.parameters()))
        begun.append(first.detach().clone())

    monkeypatch.setattr(NetworkLearner, "_reset_network", spied)
    model.fit(X, oracle=LabelOracle(FAINT), n_questions=9)
    assert len(begun) == 3  # the first when it is built
    assert not torch.equal(begun[0], begun[1])
    assert not torch.equal(begun[1], begun[2])
    assert len(model.history_) == 6


def test_epochs_beyond_a_round_continue_with_the_same_network() -> None:
    model = make().start(X)
    model.train()
    network = learner_of(model).network
    assert learner_of(model.train(2)).network is network
    assert learner_of(model.train()).network is not network


def test_the_weight_of_answers_falls_within_each_round(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def spied(*rows: Any, weight: float, **given: Any) -> Any:
        seen.append(weight)
        return occ_contrastive(*rows, weight=weight, **given)

    monkeypatch.setattr("likewise.estimators.deep.occ.occ_contrastive", spied)
    make(FRESH.replace(batch_size=120)).fit(X)
    assert seen[::2] == [50, 25] * 3  # two spaces an epoch


def test_a_resumed_training_is_the_uninterrupted_one_bit_for_bit(tmp_path: Path) -> None:
    plan = FRESH.replace(checkpoint_every=1)
    told: dict[str, Any] = {"oracle": LabelOracle(FAINT), "n_questions": 9}
    whole = make(plan).fit(X, **told)
    for stop_at in (1, 2, 3):
        calls: list[int] = []

        def stop(done: int, total: int, at: int = stop_at, seen: list[int] = calls) -> None:
            seen.append(done)
            if len(seen) == at:
                raise KeyboardInterrupt

        place = tmp_path / str(stop_at)
        with pytest.raises(KeyboardInterrupt):
            make(plan).fit(X, checkpoint=place, progress=stop, **told)
        resumed = make(plan).fit(X, checkpoint=place, **told)
        assert resumed.history_ == whole.history_
        np.testing.assert_array_equal(resumed.probabilities_, whole.probabilities_)
        assert resumed.constraints_.answers == whole.constraints_.answers


def test_pseudo_links_of_the_previous_network_are_removed() -> None:
    model = make(extension=0.6)
    seen: list[int] = []
    model.fit(
        X,
        ml=[(i, i + 1) for i in range(40)],
        progress=lambda *_: seen.append(len(model.constraints_.pseudo())),
    )
    assert seen[::2] == [0, 0, 0]  # after the first epoch of each round
    assert min(seen[1::2]) > 0  # after the second


@pytest.mark.parametrize(
    ("sampler", "at_least", "at_most"), [("linked", 0.9, 1), ("uniform", 0, 0.8)]
)
def test_the_history_holds_constraints_met_and_the_entropy_of_cluster_sizes(
    sampler: Any, at_least: float, at_most: float
) -> None:
    plan = FRESH.replace(sampler=sampler, constrained_fraction=0.5)
    model = PCL(n_clusters=2, architecture=TINY, plan=plan, random_state=0)
    model.fit(X, oracle=LabelOracle(FAINT), n_questions=15)
    assert all(at_least <= epoch["links_met"] <= at_most for epoch in model.history_)
    assert all(0 <= epoch["size_entropy"] <= 1 for epoch in model.history_)
    assert "links_met" not in make().fit(X).history_[0]  # nothing was answered


def test_wide_vectors_are_projected_and_the_projection_saved(tmp_path: Path) -> None:
    wide = np.hstack([X, np.random.default_rng(0).normal(size=(120, 700))]).astype(np.float32)
    model = make(FRESH.replace(n_rounds=1)).fit(wide)
    assert learner_of(model).inputs(np.arange(3)).shape == (3, 512)
    model.save(tmp_path / "m")
    loaded = OCC.load(tmp_path / "m")
    np.testing.assert_allclose(loaded.predict_proba(wide), model.predict_proba(wide), atol=1e-6)


def test_constrained_fraction_is_between_0_and_1() -> None:
    with pytest.raises(
        InvalidParameterError, match=r"constrained_fraction must be between 0 and 1, got 1\.5"
    ):
        TrainingPlan(constrained_fraction=1.5)
