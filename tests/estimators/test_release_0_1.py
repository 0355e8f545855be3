"""Models saved by release 0.1 load and predict as they did."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.errors import ModelFileError, UnknownNameError
from likewise.estimators.params import TrainingPlan, parameters_in_force
from likewise.estimators.persistence import read_folder
from likewise.estimators.registry import load_method, make_method
from likewise.estimators.release_0_1 import upgrade_method

DATA = Path(__file__).parent / "data"
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text("utf-8"))
ROWS = np.array(EXPECTED["rows"], dtype=np.float32)
NEW = np.array(EXPECTED["new"], dtype=np.float32)
DEEP = ("cc", "occ", "pcl", "dsac")


@pytest.mark.parametrize("name", [*DEEP, "kmeans"])
def test_a_saved_model_predicts_as_it_did(name: str) -> None:
    model, expected = load_method(DATA / f"{name}.likewise-model"), EXPECTED[name]
    assert model.labels_.tolist() == expected["labels"]
    assert model.constraints_.n_answers == expected["n_answers"]
    np.testing.assert_allclose(model.predict_proba(NEW), expected["predict_proba"], atol=1e-5)


@pytest.mark.parametrize("name", [*DEEP, "kmeans"])
def test_it_can_be_saved_in_the_current_format(name: str, tmp_path: Path) -> None:
    model = load_method(DATA / f"{name}.likewise-model")
    model.save(tmp_path / "m")
    again = load_method(tmp_path / "m")
    assert read_folder(tmp_path / "m")[1]["format"] == 2
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    assert parameters_in_force(again) == parameters_in_force(model)


@pytest.mark.parametrize("name", DEEP)
def test_a_checkpoint_of_it_is_continued(name: str, tmp_path: Path) -> None:
    saved = load_method(DATA / f"{name}.likewise-model")
    shutil.copytree(DATA / f"{name}.likewise-model", tmp_path / "c")
    model = type(saved)(**saved.get_params()).fit(ROWS, checkpoint=tmp_path / "c")
    assert model.history_ == saved.history_  # all rounds were done
    np.testing.assert_allclose(model.predict_proba(NEW), saved.predict_proba(NEW), atol=1e-5)
    model.train()
    assert len(model.history_) == len(saved.history_) + 2


@pytest.mark.parametrize(
    ("key", "value", "field", "expected"),
    [
        ("cadence", "batch", "query_timing", "batch"),
        ("linked_share", "0.25", "constrained_fraction", 0.25),
        ("fresh", "true", "reset_each_round", True),
    ],
)
def test_settings_under_their_old_names_are_understood(
    key: str, value: str, field: str, expected: object
) -> None:
    model = make_method("occ", 2, settings={key: value})
    assert getattr(model.get_params()["plan"], field) == expected


def test_old_names_of_parameters_and_of_network_fields_are_understood() -> None:
    settings = {"parity": "false", "facet_dropout": "0.25"}
    parameters = make_method("occ", 2, settings=settings).get_params()
    assert parameters["two_groups"] is False
    assert parameters["architecture"].block_dropout == 0.25


def test_an_old_setting_without_successor_is_ignored() -> None:
    model = make_method("pcl", 2, settings={"companions": "false", "weights": "paper"})
    assert type(model).__name__ == "PCL"


def test_the_public_pcl_code_has_a_class_of_its_own() -> None:
    assert upgrade_method("PCL", {"preset": "authors"}) == "PCLAuthors"
    assert upgrade_method("PCL", {"frozen_after": 1}) == "PCLAuthors"
    assert upgrade_method("PCL", {"plan": {"sampler": "fixed"}}) == "PCLAuthors"
    assert upgrade_method("PCL", {"preset": None, "companions": False, "plan": None}) == "PCL"
    with pytest.raises(UnknownNameError, match="sampler"):
        TrainingPlan(sampler="fixed")  # type: ignore[arg-type]  # of release 0.1


def test_a_model_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    load_method(DATA / "kmeans.likewise-model").save(tmp_path / "m")
    text = (tmp_path / "m" / "model.json").read_text("utf-8")
    (tmp_path / "m" / "model.json").write_text(text.replace('"format": 2', '"format": 3'), "utf-8")
    with pytest.raises(ModelFileError, match="has format 3, this release reads up to 2"):
        load_method(tmp_path / "m")
