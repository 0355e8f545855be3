"""The learner of baselines without a network: a partition of scaled vectors, and its means."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from likewise.constraints.graph import ConstraintGraph
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, VectorData
from likewise.estimators.kmeans import centroid_distances, distance_soft_assign, mean_margin
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, NoQuestions, Prediction, Questioner, State
from likewise.types import Floats, Indexes, Progress
from likewise_bench.baselines.network_baseline import make_scaling

_CHUNK = 4096  # rows scaled together


class Partition(Protocol):
    """A clustering algorithm that learns no representation."""

    def __call__(
        self, rows: Floats, n_clusters: int, constraints: ConstraintGraph, seed: int
    ) -> Indexes:
        """Return the cluster of each row, below `n_clusters`."""


class PartitionLearner(Learner):
    r"""Scale the vectors, cluster them by `partition`, and predict by the nearest mean.

    Notes
    -----
    The training images keep the cluster that `partition` gave them; a new image goes to the
    nearest mean. Probabilities are the softmax over k of :math:`-2 \delta_{ik} / m`, with
    distances to the means and m their mean margin, as in `KMeans`.

    Parameters
    ----------
    partition : Partition
    """

    plan = TrainingPlan(n_rounds=4, epochs_per_round=1)

    def __init__(self, partition: Partition) -> None:
        self.partition = partition

    def build(self, data: Data, n_clusters: int, seed: int) -> None:
        """Fit the scaling; `rows` are the scaled vectors of the collection."""
        self._data, self.n_clusters, self.seed = data, n_clusters, seed
        self._scaling: nn.Module = make_scaling(data)
        self._clusters: Indexes | None = None
        self._centres: Floats | None = None  # NaN for an empty cluster
        self._margin = 1.0
        if isinstance(data, VectorData):
            self.rows = self._scaled(data)

    def train(self, constraints: ConstraintGraph, epochs: int | None, progress: Progress) -> None:
        """Cluster the collection, given the answers."""
        self._clusters = self.partition(self.rows, self.n_clusters, constraints, self.seed)
        self._centres = cluster_means(self.rows, self._clusters, self.n_clusters)
        self._margin = mean_margin(centroid_distances(self.rows, self._centres))
        self.history.append({"n_answers": float(constraints.n_answers)})
        progress(1, 1)

    def predict(self, data: Data) -> Prediction:
        """Return scaled vectors, and probabilities by distance; uniform before `train`."""
        is_own = data is self._data
        rows = self.rows if is_own else self._scaled(data)
        if self._centres is None:
            uniform = np.full((len(rows), self.n_clusters), 1 / self.n_clusters, np.float32)
            return Prediction(rows, uniform)
        distances = centroid_distances(rows, self._centres)
        probabilities = distance_soft_assign(distances, self._margin)
        if is_own and self._clusters is not None:
            _make_most_likely(probabilities, self._clusters)
        return Prediction(rows, probabilities)

    def get_state(self) -> State:
        """Return the scaling, the means and their margin."""
        state = {f"scaling:{k}": t.numpy() for k, t in self._scaling.state_dict().items()}
        state["margin"] = np.array([self._margin])
        return state if self._centres is None else {**state, "centres": self._centres}

    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned."""
        own = {k.split(":", 1)[1]: v for k, v in state.items() if k.startswith("scaling:")}
        self._scaling.load_state_dict({k: torch.from_numpy(v) for k, v in own.items()})
        self._centres = state.get("centres")
        self._margin = float(state["margin"][0])

    def _scaled(self, data: Data) -> Floats:
        starts = range(0, len(data), _CHUNK)
        parts = [np.arange(start, min(start + _CHUNK, len(data))) for start in starts]
        with torch.no_grad():
            scaled = [self._scaling(torch.from_numpy(data.batch(part))).numpy() for part in parts]
        rows: Floats = np.concatenate(scaled)
        return rows


@dataclass(eq=False, repr=False)
class PartitionBaseline(InteractiveClusterer):
    """Base class of the baselines without a network: parameters, and the rounds."""

    n_clusters: int = 8
    _: KW_ONLY
    encoder: Any = "bundled"
    random_state: int | None = None

    def _make_partition(self) -> Partition:
        """Return the clustering algorithm."""
        raise NotImplementedError(f"{type(self).__name__} must define _make_partition.")

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        return PartitionLearner(self._make_partition()), NoQuestions()

    def _questions_per_round(self, n_questions: int) -> Iterator[int]:
        if self.asks and self.budget_:
            yield from super()._questions_per_round(n_questions)
        elif not self.round_:  # without questions, every round would repeat the first
            yield 0


def cluster_means(rows: Floats, clusters: Indexes, n_clusters: int) -> Floats:
    """Return the mean of each cluster, NaN if it is empty."""
    means = np.full((n_clusters, rows.shape[1]), np.nan, dtype=np.float32)
    for c in np.unique(clusters):
        means[c] = rows[clusters == c].mean(axis=0)
    return means


def _make_most_likely(probabilities: Floats, clusters: Indexes) -> None:
    """Swap the largest probability of each row with that of its cluster, in place."""
    row, largest = np.arange(len(clusters)), probabilities.argmax(axis=1)
    own = probabilities[row, clusters].copy()
    probabilities[row, clusters] = probabilities[row, largest]
    probabilities[row, largest] = np.where(largest == clusters, probabilities[row, largest], own)
