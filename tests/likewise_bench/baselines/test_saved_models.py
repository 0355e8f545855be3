"""Baselines saved by release 0.1, and in the present format, predict and ask as before."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.registry import load_method

DATA = Path(__file__).parent / "data"
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text("utf-8"))
NEW = np.array(EXPECTED.pop("new"), dtype=np.float32)


def load(name: str) -> InteractiveClusterer:
    return load_method(DATA / f"{name}.likewise-model")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_model_of_release_0_1_predicts_as_it_did(name: str) -> None:
    model, expected = load(name), EXPECTED[name]
    assert model.labels_.tolist() == expected["labels"]
    np.testing.assert_allclose(model.predict_proba(NEW), expected["predict_proba"], atol=1e-5)


@pytest.mark.parametrize("name", [name for name in EXPECTED if EXPECTED[name]["asked"]])
def test_a_model_of_release_0_1_asks_as_it_did(name: str) -> None:
    asked = [list(question.images) for question in load(name).ask(2)]
    assert asked == EXPECTED[name]["asked"]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_model_is_the_same_after_saving_in_the_present_format(name: str, tmp_path: Path) -> None:
    model = load(name)
    model.save(tmp_path / "m")
    again = load_method(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    if EXPECTED[name]["asked"]:
        assert again.ask(2) == model.ask(2)
