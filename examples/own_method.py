"""Write your own clustering method: what is trained, and what is asked."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.estimators import registry
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, VectorData
from likewise.estimators.pair_questioner import PairQuestioner
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, Prediction, Questioner, State
from likewise.progress import Progress
from likewise_bench.runner import run_benchmark
from likewise_bench.spec import RunSpec


class NearestMean(Learner):
    """Assigns each image to the nearest mean of the largest must-linked groups."""

    plan = TrainingPlan(n_rounds=4, epochs_per_round=1)

    def build(self, data: Data, n_clusters: int, seed: int) -> None:
        self.data, self.n_clusters = data, n_clusters
        self.means = data.matrix[:n_clusters].copy() if isinstance(data, VectorData) else None

    def train(self, constraints: ConstraintGraph, epochs: int | None, progress: Progress) -> None:
        groups, sizes = np.unique(constraints.groups(), return_counts=True)
        for cluster, group in enumerate(groups[np.argsort(-sizes)[: self.n_clusters]]):
            self.means[cluster] = self.data.matrix[constraints.groups() == group].mean(axis=0)

    def predict(self, data: Data) -> Prediction:
        rows = data.matrix
        away = np.square(rows[:, None] - self.means[None]).sum(axis=2)
        near = np.exp(-(away - away.min(axis=1, keepdims=True)))
        return Prediction(rows, near / near.sum(axis=1, keepdims=True))

    def get_state(self) -> State:
        return {"means": self.means}

    def set_state(self, state: State) -> None:
        self.means = state["means"]


@dataclass(eq=False, repr=False)
class NearestMeanClusterer(InteractiveClusterer):
    n_clusters: int = 8
    _: KW_ONLY
    strategy: str = "random"
    encoder: Any = None
    random_state: int | None = None

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        return NearestMean(), PairQuestioner(self.settings_.strategy, "random")


registry.METHODS = {**registry.METHODS, "nearest": f"{__name__}:NearestMeanClusterer"}
run = RunSpec("nearest", dataset="digits", criterion="half", n_images=200, n_questions=40)
row = run_benchmark(run)
print(f"{row['method']}: ACC {row['acc']:.2f} after {row['n_answers']} answers")
