"""From settings and a source to a network and its views."""

from collections.abc import Callable
from types import SimpleNamespace

from torch import nn

from likewise.augment.recipe import make_recipe
from likewise.augment.vector_views import VectorViews
from likewise.encoders.backbones import make_backbone
from likewise.heads.scaling import FacetScaling
from likewise.heads.trunk import VectorTrunk
from likewise.methods.architecture import Architecture
from likewise.methods.network import ClusterNetwork
from likewise.methods.source import Source, VectorSource
from likewise.methods.views import OfPictures, OfVectors, Views

MakeContext = Callable[[int], nn.Module | None]  # width of the features -> attention


def build_network(
    settings: SimpleNamespace, source: Source, context: MakeContext | None = None
) -> ClusterNetwork:
    """Return an untrained network for `source`."""
    shape: Architecture = settings.architecture or Architecture()
    backbone, n_features, scaling = build_body(settings, source)
    return ClusterNetwork(
        backbone,
        n_features,
        scaling=scaling,
        context=context and context(n_features),
        n_hidden=shape.n_hidden,
        n_projection=shape.n_projection,
        n_clusters=int(settings.n_clusters),
    )


def build_body(
    settings: SimpleNamespace, source: Source
) -> tuple[nn.Module, int, FacetScaling | None]:
    """Return backbone, width of its features, and scaling.

    Vectors get their scaling and a small trunk, pictures the backbone of the settings.
    """
    shape: Architecture = settings.architecture or Architecture()
    if source.n_columns is None:
        backbone = make_backbone(settings.backbone)
        return backbone, backbone.n_features, None
    scaling = FacetScaling(source.slices, source.n_columns)
    if isinstance(source, VectorSource):
        scaling.fit(source.matrix)
    return VectorTrunk(source.n_columns, shape.n_features), shape.n_features, scaling


def build_views(settings: SimpleNamespace, source: Source) -> Views:
    """Return the views of `source` as the settings want them."""
    shape: Architecture = settings.architecture or Architecture()
    if source.n_columns is not None:
        recipe = VectorViews(
            dropout=shape.feature_dropout,
            noise=shape.feature_noise,
            facet_dropout=shape.facet_dropout,
            views=settings.views,
        )
        return OfVectors(recipe, source.slices)
    return OfPictures(make_recipe(shape.recipe, size=shape.size), settings.views)
