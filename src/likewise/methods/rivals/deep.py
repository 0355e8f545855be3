"""Base of the rivals that train a network: their default widths, plan and cheap rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from likewise.encoders.backbones import make_backbone
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, VectorData
from likewise.estimators.params import NetworkConfig, TrainingPlan
from likewise.methods.rivals.directions import Directions, make_scaling
from likewise.methods.shared_parameters import TrainingParameters
from likewise.nn.heads import VectorTrunk

Indexes = npt.NDArray[np.intp]
_CHUNK = 4096


class DeepRival(InteractiveClusterer):
    """A network on the leading directions of the vectors, or on pictures with a backbone.

    Vectors are scaled and turned once, when the collection is taken in: an epoch then costs
    what the small network costs, whatever the encoder gives.
    """

    default_architecture: ClassVar[NetworkConfig] = NetworkConfig(
        n_features=256, n_hidden=256, n_projection=64
    )
    default_plan: ClassVar[TrainingPlan] = TrainingPlan(epochs_per_round=30, batch_size=128)

    def _build(self) -> None:
        settings = self._settings
        settings.architecture = settings.architecture or self.default_architecture
        settings.views = getattr(settings, "views", "two")
        self._kept_rows: Tensor | None = None
        super()._build()
        if isinstance(self._source, VectorData):
            n = len(self._source)
            parts = [np.arange(i, min(i + _CHUNK, n)) for i in range(0, n, _CHUNK)]
            rows = [super(DeepRival, self)._rows(self._source, part) for part in parts]
            self._kept_rows = torch.cat(rows)

    def _rows(self, source: Data, indexes: Indexes) -> Tensor:
        if source is self._source and self._kept_rows is not None:
            return self._kept_rows[torch.from_numpy(indexes).to(self._kept_rows.device)]
        return super()._rows(source, indexes)

    def _body(self) -> tuple[nn.Module, int, nn.Module | None]:
        """Return backbone, width of its features, and scaling: see `build_body`."""
        if self._source.n_columns is None:
            backbone = make_backbone(self._settings.backbone)
            return backbone, backbone.n_features, None
        scaling, n_features = make_scaling(self._source), self._settings.architecture.n_features
        directions = scaling[1]
        assert isinstance(directions, Directions)  # as `make_scaling` makes it
        return VectorTrunk(directions.n_out, n_features), n_features, scaling


@dataclass(eq=False, repr=False)
class UnguidedRival(TrainingParameters, DeepRival):
    """A deep rival that asks nothing and has no parameters of its own."""

    asks: ClassVar[tuple[str, ...]] = ()

    n_clusters: int = 8
