"""Answers help every network baseline that asks, where clustering alone finds another grouping."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.params import TrainingPlan
from likewise.estimators.registry import method_class
from likewise.metrics import accuracy
from likewise.oracles.base import LabelOracle
from likewise.queries.registry import STRATEGIES
from likewise_bench.baselines import METHODS
from tests.likewise_bench.baselines.contract_methods import CONTRACT_METHODS
from tests.likewise_bench.baselines.crossed_groupings import SMALL, crossed_groupings

X, DOMINANT, TARGET = crossed_groupings()
PLAN = TrainingPlan(
    warmup_epochs=10,
    n_rounds=2,
    epochs_per_round=15,
    batch_size=80,
    learning_rate=0.01,
    sampler="linked",
)


def make(name: str, **given: Any) -> InteractiveClusterer:
    chosen = {"n_clusters": 2, "architecture": SMALL, "plan": PLAN, "random_state": 0, **given}
    return method_class(name)(**chosen)


def unasked(model: InteractiveClusterer) -> float:
    """Return the accuracy on images that are in no answer."""
    answers = model.constraints_.answers.values()
    asked = {image for answer in answers for image in answer.question.images}
    rest = [image for image in range(len(X)) if image not in asked]
    return float(accuracy(TARGET[rest], model.labels_[rest]))


@pytest.fixture(scope="module")
def dec() -> float:
    """Return the accuracy of DEC in the target grouping."""
    return unasked(make("dec").fit(X))


@pytest.mark.parametrize(
    ("name", "at_least"),
    [
        ("sdec", 0.9),
        ("dcc", 0.9),
        ("adc", 0.9),
        ("dc-gmm", 0.65),
        ("autoembedder", 0.9),
        ("spherepair", 0.9),
        ("idc", 0.9),
        ("tod", 0.8),
    ],
)
def test_answers_reveal_the_target_grouping(name: str, at_least: float, dec: float) -> None:
    model = make(name).fit(X, oracle=LabelOracle(TARGET), n_questions=60)
    assert model.constraints_.n_answers == 60
    assert unasked(model) > at_least > dec


def test_adc_asks_better_questions_than_random_ones() -> None:
    found: dict[str, list[float]] = {"own": [], "random": []}
    for seed in range(3):
        for kind, given in (
            ("own", {}),
            ("random", {"strategy": "random", "candidates": "random"}),
        ):
            model = make("adc", random_state=seed, **given)
            found[kind].append(unasked(model.fit(X, oracle=LabelOracle(TARGET), n_questions=8)))
    assert np.mean(found["own"]) > np.mean(found["random"]) + 0.1


def test_dc_gmm_is_better_with_answers_than_the_same_mixture_without() -> None:
    guided = make("dc-gmm").fit(X, oracle=LabelOracle(TARGET), n_questions=60)
    assert unasked(guided) > unasked(make("dc-gmm").fit(X)) + 0.1


def test_distances_of_an_autoembedder_become_two_valued() -> None:
    plan = PLAN.replace(n_rounds=1, epochs_per_round=40)
    model = make("autoembedder", alpha=5.0, plan=plan)
    model.fit(X, oracle=LabelOracle(TARGET), n_questions=60)
    pairs = np.array([answer.question.images for answer in model.constraints_.answers.values()])
    assert isinstance(model.learner_, NetworkLearner)
    z = model.learner_.forward_all().embeddings  # `transform` normalises them
    shares = np.linalg.norm(z[pairs[:, 0]] - z[pairs[:, 1]], axis=1).clip(max=5) / 5
    is_same = TARGET[pairs[:, 0]] == TARGET[pairs[:, 1]]
    assert shares[is_same].mean() < 0.2
    assert shares[~is_same].mean() > 0.9


def test_without_answers_the_dominant_grouping_is_found(dec: float) -> None:
    assert dec < 0.6
    assert accuracy(DOMINANT, make("dcc").fit(X).labels_) > 0.9


def test_a_weight_of_zero_leaves_a_loss_without_answers() -> None:
    model = make("spherepair", reconstruction=0.0, plan=PLAN.replace(n_rounds=1)).fit(X)
    assert model.history_[-1]["reconstruction"] == 0


PAIRS = ("cop-kmeans", "pckmeans", "sdec", "dcc", "adc", "dc-gmm", "autoembedder", "spherepair")


def test_every_baseline_that_asks_about_pairs_has_a_strategy() -> None:
    found = [name for name in CONTRACT_METHODS if "strategy" in method_class(name)().get_params()]
    assert set(found) == set(PAIRS)
    assert all(method_class(name).asks == ("pair",) for name in found)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_works_with_baselines(strategy: str) -> None:
    quick = TrainingPlan(warmup_epochs=1, n_rounds=2, epochs_per_round=1, learning_rate=0.01)
    for name in ("pckmeans", "dcc"):
        given = {"plan": quick, "architecture": SMALL} if name == "dcc" else {"n_init": 1}
        model = method_class(name)(n_clusters=2, random_state=0, strategy=strategy, **given)
        model.fit(X, oracle=LabelOracle(TARGET), n_questions=6)
        assert model.constraints_.n_answers == 6


class StoppedError(Exception):
    """Raised to interrupt a training."""


@pytest.mark.parametrize("name", ["dcc", "vae", "idc", "idfd", "gcc", "mice", "spice", "tod"])
def test_a_resumed_training_equals_an_uninterrupted_one(name: str, tmp_path: Path) -> None:
    plan = TrainingPlan(warmup_epochs=1, n_rounds=3, epochs_per_round=1, batch_size=80)
    oracle: dict[str, Any] = {"oracle": LabelOracle(TARGET), "n_questions": 9}
    whole = make(name, plan=plan).fit(X, **oracle)

    def stop(model: InteractiveClusterer) -> None:
        if model.round_ == 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        make(name, plan=plan).fit(X, **oracle, checkpoint=tmp_path / "c", watch=stop)
    resumed = make(name, plan=plan).fit(X, **oracle, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(whole.probabilities_, resumed.probabilities_)
    assert len(whole.history_) == len(resumed.history_) == 4


@pytest.mark.parametrize("name", ["dcc", "vae", "sdec", "idc", "mice", "tod", "idfd"])
def test_a_backbone_is_trained_on_images(name: str) -> None:
    images = np.zeros((12, 16, 16, 3), dtype=np.uint8)
    images[::2] = 255
    model = make(
        name,
        backbone="resnet18:width=2,stem=3x3",
        architecture=SMALL.replace(size=16),
        plan=TrainingPlan(warmup_epochs=1, epochs_per_round=1, batch_size=12, precision="float32"),
    )
    model.fit(images, ml=[(0, 2)], cl=[(0, 1)])
    assert model.predict(images).shape == (12,)
    assert model.labels_[0] == model.labels_[2] != model.labels_[1]


def test_every_docstring_names_source_choices_and_published_property() -> None:
    for name in CONTRACT_METHODS:
        text = method_class(name).__doc__ or ""
        assert len(text.splitlines()) > 20, name
        assert "Notes" in text
        assert "Choices." in text or "*inferred*" in text, name
        assert "Published property:" in text, name
        assert any(str(year) in text for year in range(1978, 2026)), name
    assert set(METHODS) - set(CONTRACT_METHODS) <= {"pcl-authors"}
