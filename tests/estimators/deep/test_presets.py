"""Presets end to end at reduced size, which of them collapse, and a loss that is not finite."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from likewise.errors import LikewiseError, LikewiseWarning
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.deep.cc import CC
from likewise.estimators.deep.dsac import DSAC
from likewise.estimators.deep.occ import OCC
from likewise.estimators.deep.pcl import PAPER, PCL, PCLObjective
from likewise.estimators.params import NetworkConfig, TrainingPlan, parameters_in_force
from likewise.metrics import accuracy
from likewise.oracles.base import LabelOracle
from tests.estimators.deep.batches import learner_of
from tests.estimators.made_data import TINY, two_factors

torch.set_num_threads(1)
PRESETS = [
    (CC, "paper"),
    (OCC, "paper"),
    (OCC, "pairlog"),
    (PCL, "paper"),
    (PCL, "reproduction"),
    (DSAC, "paper"),
    (DSAC, "reproduction"),
]


@pytest.mark.parametrize(("method", "preset"), PRESETS)
def test_a_preset_runs_on_images_with_only_its_size_reduced(
    method: type[InteractiveClusterer], preset: str
) -> None:
    images = np.random.default_rng(0).integers(0, 256, (48, 16, 16, 3), dtype=np.uint8)
    truth = np.arange(48) % 2
    printed = method.presets[preset]
    plan = printed["plan"].replace(
        epochs_per_round=2, warmup_epochs=1, batch_size=16, first_query_epoch=0, precision="float32"
    )
    shape = printed["architecture"].replace(size=16, n_hidden=16, n_projection=8)
    changes: dict[str, Any] = {"backbone": "resnet18:width=4,stem=3x3/2", "architecture": shape}
    if "initial_questions" in printed:
        changes["initial_questions"] = 4
    model = method.from_preset(preset, n_clusters=2, plan=plan, random_state=0, **changes)
    n_questions = 5 if method.asks else 0
    with warnings.catch_warnings():
        # With a handful of steps neither collapse nor confident pairs can be judged.
        warnings.filterwarnings("ignore", message="Label extension|n_clusters=2, so")
        model.fit(images, oracle=LabelOracle(truth), n_questions=n_questions)
    assert model.constraints_.n_answers == n_questions
    assert all(np.isfinite(list(epoch.values())).all() for epoch in model.history_)
    in_force = parameters_in_force(model)
    kept = {k: v for k, v in printed.items() if k not in (*changes, "plan")}
    assert kept == {name: in_force[name] for name in kept}


def accuracy_of(preset: str, seed: int) -> tuple[float, bool]:
    """Return how well PCL's own clusters fit the criterion of the answers; whether it collapsed."""
    vectors, _, faint = two_factors(240, seed=seed)
    plan = PCL.presets[preset]["plan"].replace(epochs_per_round=60)
    given: dict[str, Any] = {"backbone": None, "architecture": TINY, "initial_questions": 20}
    model = PCL.from_preset(preset, n_clusters=2, plan=plan, random_state=seed, **given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(vectors, oracle=LabelOracle(faint), n_questions=60)
    texts = [str(warning.message) for warning in caught]
    found = learner_of(model).forward_all().probabilities.argmax(1)
    collapsed = [text for text in texts if text.startswith("Training has collapsed")]
    assert all(text.endswith("attention='gated'.") for text in collapsed)
    return accuracy(faint, found), bool(collapsed)


def test_pcl_as_printed_collapses_and_its_reproduction_does_not() -> None:
    printed = accuracy_of("paper", 0)
    assert printed[0] < 0.65
    assert printed[1]
    trained = accuracy_of("reproduction", 0)
    assert trained[0] > 0.75
    assert not trained[1]


def test_the_reproduction_departs_from_print_in_four_settings() -> None:
    printed, changed = PCL.presets["paper"], PCL.presets["reproduction"]
    assert {name for name in printed if printed[name] != changed[name]} == {
        "plan",
        "attention",
        "norm",
        "assignment_similarity",
    }
    assert changed["plan"] == PAPER.replace(learning_rate=3e-4)


def test_a_loss_that_is_not_finite_does_not_change_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, _, _ = two_factors(60)
    plan = TrainingPlan(epochs_per_round=4, batch_size=20, checkpoint_every=1)
    given: dict[str, Any] = {"n_clusters": 2, "architecture": TINY, "plan": plan, "random_state": 0}
    whole = PCL(**given).fit(vectors)
    terms = PCLObjective.terms

    def breaks(self: PCLObjective, batch: Any) -> dict[str, torch.Tensor]:
        found = terms(self, batch)
        return {
            **found,
            "instance": found["instance"] * (torch.nan if batch.learner.epoch == 2 else 1),
        }

    monkeypatch.setattr(PCLObjective, "terms", breaks)
    with pytest.raises(LikewiseError, match="The loss must be finite, got nan"):
        PCL(**given).fit(vectors, checkpoint=tmp_path / "c")
    monkeypatch.setattr(PCLObjective, "terms", terms)
    resumed = PCL(**given).fit(vectors, checkpoint=tmp_path / "c")
    assert resumed.history_ == whole.history_
    np.testing.assert_array_equal(resumed.embeddings_, whole.embeddings_)


def test_equal_rows_name_the_remedy_of_the_method() -> None:
    equal = np.ones((60, 8), dtype=np.float32)
    plan = TrainingPlan(epochs_per_round=6, batch_size=5)
    with pytest.warns(LikewiseWarning, match=r"collapsed.*Use another learning rate, or two"):
        PCL(2, architecture=NetworkConfig(8, 8, 8), plan=plan, random_state=0).fit(equal)
