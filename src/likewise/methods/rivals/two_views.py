"""Base of the rivals that learn from two views: the shared network, and a bank of rows."""

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from likewise.estimators.deep.networks import ClusterNetwork
from likewise.estimators.params import TrainingPlan
from likewise.methods.rivals.deep import DeepRival, Indexes
from likewise.types import Floats


class TwoViewsRival(DeepRival):
    """Projections z and assignments p of two views, with the heads of `CC`."""

    default_plan: ClassVar[TrainingPlan] = TrainingPlan(epochs_per_round=40, batch_size=256)

    def _make_network(self) -> ClusterNetwork:
        backbone, n_features, scaling = self._body()
        shape = self._settings.architecture
        return ClusterNetwork(
            backbone,
            n_features,
            n_hidden=shape.n_hidden,
            n_projection=shape.n_projection,
            n_clusters=self._n_clusters,
            scaling=scaling,
        )

    def _plain_views(self) -> tuple[Floats, Floats]:
        """Return z and p of all images, whatever a subclass makes of them."""
        return super()._read_out(self._source)


class Bank:
    """A row for every image, moved towards its newest projection; saved with the model.

    Parameters
    ----------
    n, width : int
    rng : torch.Generator
        Rows begin as random directions.
    momentum : float
        Share of the old row that stays.
    """

    def __init__(self, n: int, width: int, rng: torch.Generator, momentum: float) -> None:
        self.rows = torch.nn.functional.normalize(torch.randn(n, width, generator=rng), dim=1)
        self.momentum = momentum

    @torch.no_grad()
    def move(self, indexes: Indexes, z: Tensor) -> None:
        """Move the rows of some images towards `z`, at length one."""
        where = torch.from_numpy(indexes)
        moved = self.momentum * self.rows[where] + (1 - self.momentum) * z.detach().cpu()
        self.rows[where] = torch.nn.functional.normalize(moved, dim=1)

    def neighbours(self, k: int) -> Indexes:
        """Return the `k` nearest other images of each image, ``(n, k)``."""
        k = min(k, len(self.rows) - 1)
        found = []
        for part in self.rows.split(2048):
            alike = part @ self.rows.T
            found.append(alike.topk(k + 1, dim=1).indices[:, 1:])
        nearest: Indexes = torch.cat(found).numpy().astype(np.intp)
        return nearest
