"""Base class of the baselines that train a network: parameters, and a network on the input."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

from torch import nn

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import Data, InputSpec
from likewise.estimators.deep.inputs import make_views, network_input
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import ClusterNetwork, Network
from likewise.estimators.deep.objective import Objective
from likewise.estimators.params import DEFAULT_BACKBONE, NetworkConfig, TrainingPlan
from likewise.nn.backbones import make_backbone
from likewise.nn.heads import VectorTrunk
from likewise_bench.baselines.input_scaling import LeadingDirections, make_scaling

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
