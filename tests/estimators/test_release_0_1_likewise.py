"""Models of `Likewise` saved by release 0.1 load, predict as before, and can be trained on."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.estimators.kernel.likewise import Likewise
from likewise.estimators.release_0_1 import upgrade_likewise_state
from likewise.oracles.base import LabelOracle

DATA = Path(__file__).parent / "data"
NAMES = ("likewise", "likewise_grown")
TRUTH = np.arange(60) % 3


@pytest.fixture(scope="module")
def expected() -> Any:
    return json.loads((DATA / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_a_model_of_release_0_1_predicts_as_it_did(name: str, expected: Any) -> None:
    model = Likewise.load(DATA / f"{name}.likewise-model")
    new = np.array(expected["new"], np.float32)
    assert model.labels_.tolist() == expected[name]["labels"]
    assert model.constraints_.n_answers == expected[name]["n_answers"]
    np.testing.assert_allclose(model.predict_proba(new), expected[name]["predict_proba"], atol=2e-6)


def test_it_has_all_that_was_known_about_its_answers() -> None:
    model = Likewise.load(DATA / "likewise.likewise-model")
    assert model.n_asked_ == model.n_answered_ == 12
    assert model.n_determined_ >= 12
    assert model.learner_.temperature > 0
    assert model.accuracy_estimate_.n_checked == 0  # known after the next training
    assert model.label_issues_ == ()
    assert set(model.learner_.block_weights) == {"all", "all smoothed"}


@pytest.mark.parametrize("name", NAMES)
def test_saving_it_again_gives_the_same_model(name: str, expected: Any, tmp_path: Path) -> None:
    model = Likewise.load(DATA / f"{name}.likewise-model")
    model.save(tmp_path / "model")
    again = Likewise.load(tmp_path / "model")
    new = np.array(expected["new"], np.float32)
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_a_checkpoint_of_release_0_1_is_continued(expected: Any, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    shutil.copytree(DATA / "likewise.likewise-model", checkpoint)
    rows, oracle = np.array(expected["rows"], np.float32), LabelOracle(TRUTH)
    model = Likewise(3, kinds="pair,choice", random_state=0)
    model.fit(rows, oracle=oracle, n_questions=17, checkpoint=checkpoint)
    assert model.constraints_.n_answers == 17
    assert model.round_ == 4


def test_the_arrays_of_release_0_1_get_their_present_names() -> None:
    old = [
        *("beliefs", "centres", "expectations", "temperature", "experience.said", "doubts.against"),
        *("space.stage 1.5.mean", "space.own colours.witnesses", "words.parts.words"),
        *("words.parts.scale", "facets.numbers", "aim.axes", "kernel.alpha", "kernel.numbers"),
        "kernel.known.targeted",
    ]
    assert list(upgrade_likewise_state(dict.fromkeys(old, np.zeros(1)))) == [
        *("predictions", "initial_clusters.centroids", "predicted_correctly", "temperature"),
        *("temperature.probabilities", "label_issues.contradictions", "features.stage 1.5.mean"),
        *("features.visual words of colours.references", "visual_words.parts.codebook"),
        *("visual_words.parts.scale", "first_stage.hyperparameters", "whitening.axes"),
        *("gp.alpha", "gp.hyperparameters", "gp.known.whitened"),
    ]
