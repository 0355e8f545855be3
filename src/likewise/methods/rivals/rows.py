"""Base of the rivals that learn no representation: rows stay as they are, clusters have centres."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from torch import nn

from likewise.estimators.data import Data, VectorData
from likewise.estimators.params import TrainingPlan
from likewise.methods.nearest_centre import NearestCentre
from likewise.methods.readout import distances, mean_margin
from likewise.methods.rivals.directions import make_scaling
from likewise.progress import Progress
from likewise.types import Floats

Indexes = npt.NDArray[np.intp]


class RowsRival(NearestCentre):
    r"""Scaled rows, grouped by `_group`; a method adds only that.

    Notes
    -----
    Rows are the standardised columns of which the 256 leading directions are kept, facets of
    equal weight. The images learned from keep the cluster they were given; a new image goes to
    the nearest mean. Probabilities are the softmax over k of :math:`-2 \delta_{ik} / m`, with
    distances to the means and m their mean margin, as in `KMeans`.
    """

    default_plan: ClassVar[TrainingPlan] = TrainingPlan(n_rounds=4, epochs_per_round=1)

    @abstractmethod
    def _group(self, rows: Floats) -> Indexes:
        """Return the cluster of each image, below `n_clusters`; answers are in the graph."""

    @property
    def _plan(self) -> TrainingPlan:
        # With nothing to ask, every round would be the first one again.
        is_asking = bool(self.asks) and self._asker.budget > 0
        return self.default_plan if is_asking else self.default_plan.but(n_rounds=1)

    def _build(self) -> None:
        super()._build()
        self._clusters: Indexes | None = None
        if isinstance(self._source, VectorData):
            self._own_rows = self._scaled(self._source)

    def _make_scaling(self) -> nn.Module:
        return make_scaling(self._source)

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        # No turn of the asker: rows never change, so a strategy that compares them with those of
        # the last round (CSD) has nothing to compare, and asks at random as before a first round.
        self._clusters = self._group(self._own_rows)
        self._centres = means(self._own_rows, self._clusters, self._n_clusters)
        self._margin = mean_margin(centroid_distances(self._own_rows, self._centres))
        self.history_.append({"n_answers": float(self.constraints_.n_answers)})
        progress(1, 1)

    def _read_out(self, source: Data) -> tuple[Floats, Floats]:
        is_own = source is self._source
        rows = self._own_rows if is_own else self._scaled(source)
        probabilities = self._near(rows)
        if is_own and self._clusters is not None:
            _put_first(probabilities, self._clusters)
        return rows, probabilities


def means(rows: Floats, clusters: Indexes, n_clusters: int) -> Floats:
    """Return the mean of each cluster, NaN where it has no image."""
    found = np.full((n_clusters, rows.shape[1]), np.nan, dtype=np.float32)
    for c in np.unique(clusters):
        found[c] = rows[clusters == c].mean(axis=0)
    return found


def _put_first(probabilities: Floats, clusters: Indexes) -> None:
    """Exchange the largest probability of a row with that of its cluster, in place."""
    row, largest = np.arange(len(clusters)), probabilities.argmax(axis=1)
    own = probabilities[row, clusters].copy()
    probabilities[row, clusters] = probabilities[row, largest]
    probabilities[row, largest] = np.where(largest == clusters, probabilities[row, largest], own)
