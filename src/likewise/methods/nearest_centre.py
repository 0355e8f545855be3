"""Base of the methods without a network: scaled rows, and each goes to the nearest centre."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from likewise.estimators.centroids import centroid_distances, distance_soft_assign
from likewise.methods.base import Floats, PersonalClusterer
from likewise.methods.source import Source

_READ_OUT = 4096  # images looked at together


class NearestCentre(PersonalClusterer):
    """Rows are scaled once; `_improve` finds `_centres` and their mean `_margin`."""

    _scaling: nn.Module
    _centres: Floats | None  # a cluster without images has NaN
    _margin: float

    def _build(self) -> None:
        self._scaling = self._make_scaling()
        self._centres, self._margin = None, 1.0

    @abstractmethod
    def _make_scaling(self) -> nn.Module:
        """Return what makes rows of the vectors."""

    def _scaled(self, source: Source) -> Floats:
        starts = range(0, len(source), _READ_OUT)
        parts = [np.arange(start, min(start + _READ_OUT, len(source))) for start in starts]
        with torch.no_grad():
            found = [self._scaling(source.batch(indexes)).numpy() for indexes in parts]
        rows: Floats = np.concatenate(found)
        return rows

    def _near(self, rows: Floats) -> Floats:
        """Return probabilities ``(n, k)`` by distance; all alike before the first training."""
        if self._centres is None:
            return np.full((len(rows), self._n_clusters), 1 / self._n_clusters, np.float32)
        return distance_soft_assign(centroid_distances(rows, self._centres), self._margin)

    def _modules_to_save(self) -> dict[str, Any]:
        return {"scaling": self._scaling}

    def _extra_arrays(self) -> dict[str, Any]:
        return {"centres": self._centres, "margin": np.array([self._margin])}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._centres = arrays.get("centres")
        self._margin = float(arrays["margin"][0])
