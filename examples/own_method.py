"""Write your own clustering method: a learner and a questioner."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from likewise import LabelOracle
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.parts import Learner, Prediction
from likewise.estimators.questioners import PairQuestioner
from likewise.metrics import accuracy


class NearestMean(Learner):
    """Assigns each image to the nearest mean of the largest must-linked groups."""

    def build(self, data: Any, n_clusters: int, seed: int) -> None:
        self.data, self.n_clusters = data, n_clusters
        self.means = np.zeros((n_clusters, data.n_columns))

    def train(self, constraints: Any, epochs: int | None, progress: Any) -> None:
        members, matrix = constraints.groups(), self.data.matrix
        groups, sizes = np.unique(members, return_counts=True)
        for cluster, group in enumerate(groups[np.argsort(-sizes)[: self.n_clusters]]):
            self.means[cluster] = matrix[members == group].mean(axis=0)
        self.history.append({"largest_group": float(sizes.max())})

    def predict(self, data: Any) -> Prediction:
        distances = np.square(data.matrix[:, None] - self.means[None]).sum(axis=2)
        similarities = np.exp(-(distances - distances.min(axis=1, keepdims=True)))
        return Prediction(data.matrix, similarities / similarities.sum(axis=1, keepdims=True))

    def get_state(self) -> Any:
        return {"means": self.means}

    def set_state(self, state: Any) -> None:
        self.means = state["means"]


@dataclass(eq=False, repr=False)
class NearestMeanClusterer(InteractiveClusterer):
    n_clusters: int = 8
    _: KW_ONLY
    strategy: str = "random"
    encoder: Any = None
    random_state: int | None = None

    def _make_parts(self, data: Any) -> tuple[NearestMean, PairQuestioner]:
        return NearestMean(), PairQuestioner(self.settings_.strategy, "anchored")


# One line in `likewise/estimators/registry.py` gives it a name on the command line.
digits = load_digits(n_class=4)
model = NearestMeanClusterer(n_clusters=4, random_state=0)
model.fit(digits.data, oracle=LabelOracle(digits.target), n_questions=100)
print(f"ACC {accuracy(digits.target, model.labels_):.2f} after {model.n_answered_} answers")
