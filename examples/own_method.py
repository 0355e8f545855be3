"""Write your own clustering method: three functions; the base class asks and scores."""

from typing import Any, ClassVar

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.estimators import registry
from likewise.estimators.base import (InteractiveClusterer)
from likewise.types import (Floats)
from likewise.estimators.data import Data, VectorData
from likewise.progress import Progress
from likewise_bench.runner import run_benchmark
from likewise_bench.spec import RunSpec


class NearestMean(InteractiveClusterer):
    """Each image goes to the nearest mean of the largest groups that answers about pairs tied."""

    asks: ClassVar[tuple[str, ...]] = ("pair",)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        strategy: str = "random",
        encoder: Any = "bundled",
        plan: Any = None,
        random_state: int | None = None,
    ) -> None:
        self.n_clusters, self.strategy, self.encoder = n_clusters, strategy, encoder
        self.plan, self.random_state = plan, random_state

    def _build(self) -> None:
        assert isinstance(self._source, VectorData)
        self._means = self._source.matrix[: self._n_clusters].copy()

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        """The largest groups that answers tied together give the means."""
        assert isinstance(self._source, VectorData)
        for cluster, members in enumerate(_largest(self.constraints_, self._n_clusters)):
            self._means[cluster] = self._source.matrix[members].mean(axis=0)

    def _read_out(self, source: Data) -> tuple[Floats, Floats]:
        assert isinstance(source, VectorData)
        away = np.square(source.matrix[:, None] - self._means[None]).sum(axis=2)
        near = np.exp(-(away - away.min(axis=1, keepdims=True)))
        return source.matrix, near / near.sum(axis=1, keepdims=True)


def _largest(graph: ConstraintGraph, k: int) -> list[Any]:
    groups, sizes = np.unique(graph.groups(), return_counts=True)
    return [np.flatnonzero(graph.groups() == g) for g in groups[np.argsort(-sizes)[:k]]]


registry.METHODS = {**registry.METHODS, "nearest": f"{__name__}:NearestMean"}
row = run_benchmark(
    RunSpec("nearest", dataset="digits", criterion="half", n_images=200, n_questions=40)
)
print(f"{row['method']}: ACC {row['acc']:.2f} after {row['n_answers']} answers")
