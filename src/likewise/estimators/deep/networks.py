"""The networks of the deep methods: a backbone, then heads on its features."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from torch import Tensor, nn

from likewise.estimators.data import Data
from likewise.estimators.deep.inputs import fit_scaling
from likewise.estimators.params import DEFAULT_BACKBONE, NetworkConfig
from likewise.nn.backbones import make_backbone
from likewise.nn.heads import AssignmentHead, ClassifierHead, ProjectionHead, VectorTrunk
from likewise.nn.scaling import narrow_slices

#: Layer widths for collections of a few thousand images, where the papers' would be slow.
DEFAULT_CONFIG = NetworkConfig(n_features=256, n_hidden=256)


@dataclass(frozen=True)
class NetworkOutput:
    """What the network returns for one view of a batch.

    Parameters
    ----------
    features : Tensor of shape (n, f)
        Of the backbone, before any head: the papers' h.
    z : Tensor of shape (n, m)
        Projections, unit rows.
    p : Tensor of shape (n, k)
        Soft assignments, rows sum to one.
    """

    features: Tensor
    z: Tensor
    p: Tensor


class Network(nn.Module, ABC):
    """Scaling or normalisation, then a backbone; a subclass adds its heads.

    Parameters
    ----------
    backbone : nn.Module
        Input rows to features ``(b, n_features)``.
    scaling : nn.Module, optional
        Applied to vectors before augmentation; not trained.
    """

    def __init__(self, backbone: nn.Module, *, scaling: nn.Module | None = None) -> None:
        super().__init__()
        self.scaling = nn.Identity() if scaling is None else scaling
        self.backbone = backbone

    def features(self, x: Tensor) -> Tensor:
        """Return the backbone's features of scaled vectors or prepared images."""
        features: Tensor = self.backbone(x)
        return features

    @abstractmethod
    def heads(self, features: Tensor) -> NetworkOutput:
        """Return projections and assignments for the features of a whole batch."""


class ClusterNetwork(Network):
    """A projection head and an assignment head, as in [CC]_.

    Parameters
    ----------
    backbone, scaling
        As in `Network`.
    n_features, n_hidden, n_projection, n_clusters : int
    context : nn.Module, optional
        Attention across the images of a batch, between backbone and heads.
    """

    def __init__(
        self,
        backbone: nn.Module,
        n_features: int,
        *,
        n_hidden: int,
        n_projection: int,
        n_clusters: int,
        scaling: nn.Module | None = None,
        context: nn.Module | None = None,
    ) -> None:
        super().__init__(backbone, scaling=scaling)
        self.context = context
        self.instance = ProjectionHead(n_features, n_hidden, n_projection)
        self.cluster = AssignmentHead(n_features, n_hidden, n_clusters)

    def heads(self, features: Tensor) -> NetworkOutput:
        """Return projections and assignments for the features of a whole batch."""
        attended = features if self.context is None else self.attend(features)
        return NetworkOutput(features, self.instance(attended), self.cluster(attended))

    def attend(self, features: Tensor) -> Tensor:
        """Return features in the context of the batch."""
        assert self.context is not None
        attended: Tensor = self.context(features)
        return attended


class EmbeddingNetwork(Network):
    """A linear embedding of the features, and a classifier on it: [DSAC]_'s F and f.

    Parameters
    ----------
    backbone, scaling
        As in `Network`.
    n_features, n_embedding, n_classes : int
    """

    def __init__(
        self,
        backbone: nn.Module,
        n_features: int,
        *,
        n_embedding: int,
        n_classes: int,
        scaling: nn.Module | None = None,
    ) -> None:
        super().__init__(backbone, scaling=scaling)
        self.embed = nn.Linear(n_features, n_embedding)
        self.classifier = ClassifierHead(n_embedding, n_classes)

    def heads(self, features: Tensor) -> NetworkOutput:
        """Return embeddings, not normalised, and class probabilities."""
        rows = self.embed(features)
        return NetworkOutput(features, rows, self.classifier(rows).softmax(dim=1))


def make_trunk(
    data: Data, backbone: str | nn.Module | None, config: NetworkConfig
) -> tuple[nn.Module, int]:
    """Return a backbone for images or a linear trunk for vectors, and the width of its features."""
    if data.n_columns is None:
        trunk = make_backbone(DEFAULT_BACKBONE if backbone is None else backbone)
        return trunk, trunk.n_features
    n_in = max(part.stop for part in narrow_slices(data.slices).values())
    return VectorTrunk(n_in, config.n_features), config.n_features


def cluster_network_factory(
    data: Data,
    backbone: str | nn.Module | None,
    config: NetworkConfig,
    n_clusters: int,
    make_network: Callable[..., ClusterNetwork] = ClusterNetwork,
    make_context: Callable[[int], nn.Module] | None = None,
    scaling: nn.Module | None = None,
) -> Callable[[], ClusterNetwork]:
    """Return a function that makes an untrained `ClusterNetwork` for `data`.

    Parameters
    ----------
    data, backbone, config, n_clusters
        As everywhere.
    make_network : callable
        `ClusterNetwork` or a subclass.
    make_context : callable, optional
        From the width of the features to the attention across images.
    scaling : nn.Module, optional
        Applied to vectors; `fit_scaling` if None.
    """
    return partial(
        _make_cluster_network,
        partial(make_trunk, data, backbone, config),
        config,
        n_clusters,
        make_network,
        make_context,
        fit_scaling(data) if scaling is None else scaling,
    )


def _make_cluster_network(
    make_trunk: Callable[[], tuple[nn.Module, int]],
    config: NetworkConfig,
    n_clusters: int,
    make_network: Callable[..., ClusterNetwork],
    make_context: Callable[[int], nn.Module] | None,
    scaling: nn.Module | None,
) -> ClusterNetwork:
    trunk, n_features = make_trunk()
    return make_network(
        trunk,
        n_features,
        scaling=scaling,
        context=None if make_context is None else make_context(n_features),
        n_hidden=config.n_hidden,
        n_projection=config.n_projection,
        n_clusters=n_clusters,
    )


def embedding_network_factory(
    data: Data,
    backbone: str | nn.Module | None,
    config: NetworkConfig,
    n_embedding: int,
    n_classes: int,
) -> Callable[[], EmbeddingNetwork]:
    """Return a function that makes an untrained `EmbeddingNetwork` for `data`."""
    return partial(
        _make_embedding_network,
        partial(make_trunk, data, backbone, config),
        n_embedding,
        n_classes,
        fit_scaling(data),
    )


def _make_embedding_network(
    make_trunk: Callable[[], tuple[nn.Module, int]],
    n_embedding: int,
    n_classes: int,
    scaling: nn.Module | None,
) -> EmbeddingNetwork:
    trunk, n_features = make_trunk()
    return EmbeddingNetwork(
        trunk, n_features, n_embedding=n_embedding, n_classes=n_classes, scaling=scaling
    )
