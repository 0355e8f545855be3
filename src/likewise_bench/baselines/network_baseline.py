"""Base class of the baselines that train a network: parameters, and the network on scaled vectors."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

from torch import nn

from likewise.encoders.backbones import make_backbone
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, InputSpec
from likewise.estimators.deep.learner import NetworkLearner, Objective
from likewise.estimators.deep.networks import ClusterNetwork, Network, make_augmenter
from likewise.estimators.params import NetworkConfig, TrainingPlan
from likewise.nn.heads import VectorTrunk
from likewise_bench.baselines.input_scaling import LeadingDirections, make_scaling

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
        if self.settings_.backbone is None:
            return InputSpec(encoder=self.settings_.encoder)
        return InputSpec(image_size=self._config.size, accepts_vectors=False)

    def _network_learner(
        self, data: Data, network: MakeNetwork, objective: Objective
    ) -> NetworkLearner:
        """Return the learner of a network on `data`."""
        s, config = self.settings_, self._config
        scaling = None if data.n_columns is None else make_scaling(data)
        return NetworkLearner(
            partial(_make_network, network, s.backbone, config.n_features, scaling),
            objective,
            make_augmenter(data, config),
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
        body = make_backbone(backbone)
        return network(body, body.n_features, scaling=None)
    directions = scaling[1]
    assert isinstance(directions, LeadingDirections)  # see `make_scaling`
    return network(VectorTrunk(directions.n_out, n_features), n_features, scaling=scaling)
