"""Networks of the deep methods (backbone and heads), scaling and augmentation of their input."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from likewise.estimators.data import BlockScaler, Data, InputSpec, VectorData
from likewise.estimators.params import DEFAULT_BACKBONE, NetworkConfig
from likewise.nn.augmentation import (
    AugmentationConfig,
    VectorViews,
    make_augmentation,
    two_vector_views,
)
from likewise.nn.backbones import BlockProjection, BlockScaling, make_backbone, narrow_slices
from likewise.nn.heads import AssignmentHead, ClassifierHead, ProjectionHead, VectorTrunk
from likewise.nn.image_views import evaluation_view, two_views


def network_input(encoder: Any, backbone: Any, config: NetworkConfig) -> InputSpec:
    """Return what a network is trained on: vectors of `encoder`, or images.

    With a `backbone` only images; without one, images are embedded if an `encoder` is given,
    and otherwise train the default backbone. Vectors are used unchanged.
    """
    trains_on_images = backbone is not None or encoder is None
    size = config.size if trains_on_images else None
    return InputSpec(encoder, image_size=size, accepts_vectors=backbone is None)


class Augmentation(Protocol):
    """Random views to train on, and the one view used for prediction."""

    def draw(self, rows: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return two random views of each row."""

    def plain(self, rows: Tensor) -> Tensor:
        """Return the rows as used for prediction."""


@dataclass(frozen=True)
class VectorAugmentation:
    """Feature dropout, noise and block dropout on scaled vectors."""

    recipe: VectorViews
    slices: Mapping[str, slice]

    def draw(self, rows: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return two random views of each vector."""
        return two_vector_views(rows, self.recipe, rng, self.slices)

    def plain(self, rows: Tensor) -> Tensor:
        """Return the vectors unchanged."""
        return rows


@dataclass(frozen=True)
class ImageAugmentation:
    """Random crop, flip, colour jitter, grayscale and blur."""

    recipe: AugmentationConfig
    views: str = "two"  # or the ablations "one" and "none"

    def draw(self, rows: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return two random views of each image."""
        return two_views(rows, self.recipe, rng, views=self.views)

    def plain(self, rows: Tensor) -> Tensor:
        """Return the images resized and normalised."""
        return evaluation_view(rows, self.recipe.size, self.recipe.normalise)


def make_views(data: Data, config: NetworkConfig, views: str = "two") -> Augmentation:
    """Return the augmentation of `data`.

    Parameters
    ----------
    data : Data
    config : NetworkConfig
    views : {"two", "one", "none"}
        Two random views; one random view and the plain input; twice the plain input.
    """
    if data.n_columns is None:
        return ImageAugmentation(make_augmentation(config.recipe, size=config.size), views)
    recipe = VectorViews(
        dropout=config.feature_dropout,
        noise=config.feature_noise,
        block_dropout=config.block_dropout,
        views=views,
    )
    return VectorAugmentation(recipe, narrow_slices(data.slices))


def fit_scaling(data: Data) -> nn.Module | None:
    """Return what is applied to vectors before augmentation; None for images.

    Standardisation, then a projection of wide feature blocks on their principal axes. It is
    fitted if the vectors are there, and else restored with the network.
    """
    if data.n_columns is None:
        return None
    scaling = block_scaling(data)
    axes = BlockProjection(data.slices, data.n_columns)
    is_narrow = axes.n_out == data.n_columns
    if isinstance(data, VectorData) and not is_narrow:
        rows = torch.from_numpy(np.asarray(data.matrix, dtype=np.float32))
        axes.fit(scaling(rows).numpy())
    return scaling if is_narrow else nn.Sequential(scaling, axes)


def block_scaling(data: Data) -> BlockScaling:
    """Return the standardisation of vectors as a module, fitted if they are there."""
    assert data.n_columns is not None
    scaler = BlockScaler(data.slices, data.n_columns)
    if isinstance(data, VectorData):
        scaler.fit(data.matrix)
    return BlockScaling(scaler.mean, scaler.scale)


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
        self.scaling: nn.Module = nn.Identity() if scaling is None else scaling
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
        self.instance: ProjectionHead = ProjectionHead(n_features, n_hidden, n_projection)
        self.cluster: AssignmentHead = AssignmentHead(n_features, n_hidden, n_clusters)

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
        self.embed: nn.Linear = nn.Linear(n_features, n_embedding)
        self.classifier: ClassifierHead = ClassifierHead(n_embedding, n_classes)

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
