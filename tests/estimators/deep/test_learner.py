"""What a new method must define, and what the learner does for it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from torch import nn

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data
from likewise.estimators.deep.networks import Network
from likewise.estimators.deep.objective import Objective
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import (
    Learner,
    NoQuestions,
    Prediction,
    Questioner,
    ScikitLearnEstimator,
)
from likewise.estimators.registry import all_methods, method_class


@pytest.mark.parametrize(
    ("part", "missing"),
    [(Objective, "terms"), (Learner, "build"), (Questioner, "propose"), (Network, "heads")],
)
def test_a_part_that_lacks_a_method_cannot_be_made(part: type[Any], missing: str) -> None:
    class Half(part):  # type: ignore[misc]  # the base is a parameter
        pass

    with pytest.raises(TypeError, match=missing):
        Half(nn.Identity()) if part is Network else Half()


def test_an_estimator_without_parts_raises_an_error_that_names_the_method() -> None:
    @dataclass(eq=False, repr=False)
    class Half(InteractiveClusterer):
        n_clusters: int = 2
        encoder: Any = None
        random_state: int | None = None

    with pytest.raises(NotImplementedError, match="Half must define _make_parts"):
        Half().fit(np.eye(4))


class Constant(Learner):
    """Puts every image into the cluster of its number."""

    plan = TrainingPlan(n_rounds=2)

    def build(self, data: Data, n_clusters: int, seed: int) -> None:
        self.k = n_clusters

    def train(self, constraints: Any, epochs: int | None, progress: Any) -> None:
        self.history.append({"n_answers": float(constraints.n_answers)})

    def predict(self, data: Data) -> Prediction:
        rows = data.batch(np.arange(len(data)))
        labels = np.arange(len(data)) % self.k
        return Prediction(rows, np.eye(self.k, dtype=np.float32)[labels])

    def get_state(self) -> dict[str, Any]:
        return {}

    def set_state(self, state: Any) -> None: ...


def test_a_method_is_its_parameters_and_its_parts(tmp_path: Any) -> None:
    @dataclass(eq=False, repr=False)
    class Method(InteractiveClusterer):
        n_clusters: int = 2
        encoder: Any = None
        random_state: int | None = None

        def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
            return Constant(), NoQuestions()

    model = Method(n_clusters=3).fit(np.eye(6), ml=[(0, 1)])
    assert model.labels_[0] == model.labels_[1]
    assert [entry["n_answers"] for entry in model.history_] == [1.0, 1.0]
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(Method.load(tmp_path / "m").labels_, model.labels_)


@pytest.mark.parametrize("name", all_methods())
def test_every_method_has_at_most_two_own_base_classes(name: str) -> None:
    bases = method_class(name).__mro__[1:]
    own = [base for base in bases if base.__module__.startswith("likewise")]
    own.remove(ScikitLearnEstimator)  # only scikit-learn's own bases, with types
    assert len(own) <= 2
