"""Answers help every deep rival that asks, on data where without them it cannot know."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.methods.base import PersonalClusterer
from likewise.methods.plan import Plan
from likewise.methods.registry import METHODS, method_class
from likewise.metrics import accuracy
from likewise.oracles.simulated import LabelOracle
from likewise.queries.registry import STRATEGIES
from tests.methods.rivals.crossed import SMALL, crossed
from tests.methods.rivals.rivals_under_test import RIVALS

X, BOLD, MEANT = crossed()
PLAN = Plan(
    warmup_epochs=10,
    n_rounds=2,
    epochs_per_round=15,
    batch_size=80,
    learning_rate=0.01,
    sampler="linked",
)


def make(name: str, **given: Any) -> PersonalClusterer:
    chosen = {"n_clusters": 2, "architecture": SMALL, "plan": PLAN, "random_state": 0, **given}
    return method_class(name)(**chosen)


def unasked(model: PersonalClusterer) -> float:
    """Return the accuracy on images that are in no answer."""
    answers = model.constraints_.answers.values()
    asked = {image for answer in answers for image in answer.question.images}
    rest = [image for image in range(len(X)) if image not in asked]
    return float(accuracy(MEANT[rest], model.labels_[rest]))


@pytest.fixture(scope="module")
def dec() -> float:
    """Return what DEC finds of the grouping that is meant."""
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
def test_answers_teach_what_dec_cannot_know(name: str, at_least: float, dec: float) -> None:
    model = make(name).fit(X, oracle=LabelOracle(MEANT), n_questions=60)
    assert model.constraints_.n_answers == 60
    assert unasked(model) > at_least > dec


def test_adc_asks_better_questions_than_chance() -> None:
    found: dict[str, list[float]] = {"own": [], "random": []}
    for seed in range(3):
        for kind, given in (
            ("own", {}),
            ("random", {"strategy": "random", "candidates": "random"}),
        ):
            model = make("adc", random_state=seed, **given)
            found[kind].append(unasked(model.fit(X, oracle=LabelOracle(MEANT), n_questions=8)))
    assert np.mean(found["own"]) > np.mean(found["random"]) + 0.1


def test_dc_gmm_is_better_with_answers_than_the_same_mixture_without() -> None:
    guided = make("dc-gmm").fit(X, oracle=LabelOracle(MEANT), n_questions=60)
    assert unasked(guided) > unasked(make("dc-gmm").fit(X)) + 0.1


def test_distances_of_an_autoembedder_become_two_valued() -> None:
    plan = PLAN.but(n_rounds=1, epochs_per_round=40)
    model = make("autoembedder", alpha=5.0, plan=plan)
    model.fit(X, oracle=LabelOracle(MEANT), n_questions=60)
    pairs = np.array([answer.question.images for answer in model.constraints_.answers.values()])
    z = model._all()[0]  # `transform` makes rows of length one
    shares = np.linalg.norm(z[pairs[:, 0]] - z[pairs[:, 1]], axis=1).clip(max=5) / 5
    is_same = MEANT[pairs[:, 0]] == MEANT[pairs[:, 1]]
    assert shares[is_same].mean() < 0.2
    assert shares[~is_same].mean() > 0.9


def test_without_answers_all_see_what_catches_the_eye(dec: float) -> None:
    assert dec < 0.6
    assert accuracy(BOLD, make("dcc").fit(X).labels_) > 0.9


PAIRS = ("cop-kmeans", "pckmeans", "sdec", "dcc", "adc", "dc-gmm", "autoembedder", "spherepair")


def test_every_rival_that_takes_pairs_lets_one_choose_how() -> None:
    choosable = [name for name in RIVALS if "strategy" in method_class(name)().get_params()]
    assert set(choosable) == set(PAIRS)
    assert all(method_class(name).asks == ("pair",) for name in choosable)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_serves_rivals(strategy: str) -> None:
    quick = Plan(warmup_epochs=1, n_rounds=2, epochs_per_round=1, learning_rate=0.01)
    for name in ("pckmeans", "dcc"):
        given = {"plan": quick, "architecture": SMALL} if name == "dcc" else {"n_init": 1}
        model = method_class(name)(n_clusters=2, random_state=0, strategy=strategy, **given)
        model.fit(X, oracle=LabelOracle(MEANT), n_questions=6)
        assert model.constraints_.n_answers == 6


class StoppedError(Exception):
    """The power went."""


@pytest.mark.parametrize("name", ["dcc", "vae", "idc", "idfd", "gcc", "mice", "spice", "tod"])
def test_a_resumed_training_is_the_uninterrupted_one_bit_for_bit(name: str, tmp_path: Path) -> None:
    plan = Plan(warmup_epochs=1, n_rounds=3, epochs_per_round=1, batch_size=80)
    oracle: dict[str, Any] = {"oracle": LabelOracle(MEANT), "n_questions": 9}
    whole = make(name, plan=plan).fit(X, **oracle)

    def stop(model: PersonalClusterer) -> None:
        if model._round == 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        make(name, plan=plan).fit(X, **oracle, checkpoint=tmp_path / "c", watch=stop)
    resumed = make(name, plan=plan).fit(X, **oracle, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(whole.probabilities_, resumed.probabilities_)
    assert len(whole.history_) == len(resumed.history_) == 4


@pytest.mark.parametrize("name", ["dcc", "vae", "sdec", "idc", "mice", "tod", "idfd"])
def test_pictures_are_learned_from_scratch(name: str) -> None:
    pictures = np.zeros((12, 16, 16, 3), dtype=np.uint8)
    pictures[::2] = 255
    model = make(
        name,
        backbone="resnet18:width=2,stem=3x3",
        architecture=SMALL.but(size=16),
        plan=Plan(warmup_epochs=1, epochs_per_round=1, batch_size=12, precision="float32"),
    )
    model.fit(pictures, ml=[(0, 2)], cl=[(0, 1)])
    assert model.predict(pictures).shape == (12,)
    assert model.labels_[0] == model.labels_[2] != model.labels_[1]


def test_every_rival_has_its_source_and_its_property_in_writing() -> None:
    for name in RIVALS:
        text = method_class(name).__doc__ or ""
        assert len(text.splitlines()) > 20, name
        assert "Notes" in text
        assert "Choices." in text or "*inferred*" in text, name
        assert "Published property:" in text, name
        assert any(str(year) in text for year in range(1978, 2026)), name
    assert {name for name in METHODS if name not in RIVALS} == {
        *("likewise", "cc", "dsac", "occ", "pcl", "kmeans"),
    }
