"""Base class of the baselines that train a network: parameters, scaled input, the network."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, InputSpec, VectorData
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import (
    ClusterNetwork,
    Network,
    block_scaling,
    make_views,
    network_input,
)
from likewise.estimators.deep.objective import Objective
from likewise.estimators.kernel.features import pca_axes
from likewise.estimators.params import DEFAULT_BACKBONE, NetworkConfig, TrainingPlan
from likewise.nn.backbones import make_backbone
from likewise.nn.heads import VectorTrunk
from likewise.random_streams import stream
from likewise.types import Floats

WIDTH = 256
_FIT_ROWS = 8_000


class LeadingDirections(nn.Module):
    r"""Keep the `width` leading principal directions; fitted once, saved with the model.

    Notes
    -----
    The directions are rotated, so that each column contains a part of all of them and none
    dominates: networks train better on such columns, and an augmentation that drops columns
    loses a part of every direction. The rows are divided by one number, so that columns have mean
    square 1 on average ([DEC]_ section 4.2). Distances keep their proportions. If there are no
    more columns than `width`, the columns themselves are kept.

    Parameters
    ----------
    n_columns, width : int
    """

    def __init__(self, n_columns: int, width: int = WIDTH) -> None:
        super().__init__()
        self.n_out = min(n_columns, width)
        self.axes: Tensor
        self.register_buffer("axes", torch.zeros(n_columns, self.n_out))

    def fit(self, rows: Floats) -> None:
        """Fit to centred rows."""
        sample = rows[:: -(-len(rows) // _FIT_ROWS)]
        n_columns = sample.shape[1]
        axes = np.eye(n_columns, dtype=np.float32)
        if n_columns > self.n_out:
            axes = pca_axes(sample, self.n_out) @ _rotation(self.n_out)
        root_mean_square = float(np.sqrt(np.square(sample @ axes).mean(dtype=np.float64)))
        self.axes.copy_(torch.from_numpy(axes / max(root_mean_square, 1e-12)))

    def forward(self, rows: Tensor) -> Tensor:
        """Return ``(b, n_out)``."""
        return rows @ self.axes


def _rotation(width: int) -> Floats:
    """Return a random rotation, always the same."""
    draws = stream(0, "turn").standard_normal((width, width))
    rotation: Floats = np.linalg.qr(draws)[0].astype(np.float32)
    return rotation


def make_scaling(data: Data, width: int = WIDTH) -> nn.Sequential:
    """Return standardisation and leading directions, fitted unless the vectors are missing."""
    n_columns = data.n_columns
    assert n_columns is not None  # vectors
    scaling = block_scaling(data)
    directions = LeadingDirections(n_columns, width)
    if isinstance(data, VectorData):
        step = -(-len(data) // _FIT_ROWS)
        sample = torch.from_numpy(np.ascontiguousarray(data.matrix[::step], dtype=np.float32))
        directions.fit(scaling(sample).numpy())
    return nn.Sequential(scaling, directions)


TWO_VIEW_PLAN = TrainingPlan(epochs_per_round=40, batch_size=256)  # of PICA, IDFD and GCC
#: Called with backbone and number of features, and ``scaling=``.
MakeNetwork = Callable[..., Network]


@dataclass(eq=False, repr=False)
class NetworkBaseline(InteractiveClusterer):
    """Parameters of the baselines that train a network; `_network_learner` makes the learner.

    The network is trained on the leading principal directions of the vectors, which are computed
    once, so that the cost of an epoch does not depend on the encoder; or on images, by a backbone.
    """

    default_architecture: ClassVar[NetworkConfig] = NetworkConfig(
        n_features=256, n_hidden=256, n_projection=64
    )
    default_plan: ClassVar[TrainingPlan] = TrainingPlan(epochs_per_round=30, batch_size=128)

    n_clusters: int = 8
    _: KW_ONLY
    encoder: Any = "bundled"
    backbone: str | nn.Module | None = None
    architecture: NetworkConfig | None = None
    plan: TrainingPlan | None = None
    random_state: int | None = None

    @property
    def _config(self) -> NetworkConfig:
        return self.settings_.architecture or self.default_architecture

    def _input_spec(self) -> InputSpec:
        return network_input(self.settings_.encoder, self.settings_.backbone, self._config)

    def _network_learner(
        self, data: Data, network: MakeNetwork, objective: Objective
    ) -> NetworkLearner:
        """Return the learner of a network on `data`."""
        s, config = self.settings_, self._config
        scaling = None if data.n_columns is None else make_scaling(data)
        return NetworkLearner(
            partial(_make_network, network, s.backbone, config.n_features, scaling),
            objective,
            make_views(data, config),
            s.plan or self.default_plan,
        )

    def _cluster_network(self) -> MakeNetwork:
        """Return what makes a network with the two heads of `CC`: projection and assignment."""
        config = self._config
        return partial(
            ClusterNetwork,
            n_hidden=config.n_hidden,
            n_projection=config.n_projection,
            n_clusters=self.settings_.n_clusters,
        )


def _make_network(
    network: MakeNetwork,
    backbone: str | nn.Module | None,
    n_features: int,
    scaling: nn.Sequential | None,
) -> Network:
    if scaling is None:
        body = make_backbone(DEFAULT_BACKBONE if backbone is None else backbone)
        return network(body, body.n_features, scaling=None)
    directions = scaling[1]
    assert isinstance(directions, LeadingDirections)  # see `make_scaling`
    return network(VectorTrunk(directions.n_out, n_features), n_features, scaling=scaling)
