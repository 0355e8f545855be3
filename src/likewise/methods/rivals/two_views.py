"""Base of the rivals that learn from two views: the shared network, and k-means read-out."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from likewise.methods.base import Floats
from likewise.methods.contrastive import ContrastiveClusterer
from likewise.methods.known import Known
from likewise.methods.network import ClusterNetwork, View
from likewise.methods.plan import Plan
from likewise.methods.readout import fit_centres, nearness
from likewise.methods.rivals.deep import DeepRival, Indexes
from likewise.methods.source import Source
from likewise.progress import Progress


class TwoViewsRival(DeepRival):
    """Projections z and assignments p of two views, with the heads of `CC`."""

    default_plan: ClassVar[Plan] = Plan(epochs_per_round=40, batch_size=256)

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

    def _loss_terms(self, a: View, b: View, known: Known) -> dict[str, Tensor]:
        raise NotImplementedError  # of a method that writes its whole step

    def _plain_views(self) -> tuple[Floats, Floats]:
        """Return z and p of all images, whatever a subclass makes of them."""
        return ContrastiveClusterer._read_out(self, self._source)


class CentresRival(TwoViewsRival):
    """A rival that has no assignments of its own: k-means on z gives clusters."""

    def _build(self) -> None:
        super()._build()
        self._centres: Floats | None = None

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        super()._improve(n_epochs, progress)
        self._centres = fit_centres(self._plain_views()[0], self._n_clusters, self._seed)

    def _read_out(self, source: Source) -> tuple[Floats, Floats]:
        embeddings, probabilities = super()._read_out(source)
        if self._centres is None:
            return embeddings, probabilities
        return embeddings, nearness(embeddings, self._centres)

    def _extra_arrays(self) -> dict[str, Any]:
        return {"centres": self._centres}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._centres = arrays.get("centres")


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
