"""From settings and a source to a network and its views."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn

from likewise.methods.architecture import Architecture
from likewise.methods.network import ClusterNetwork
from likewise.methods.source import Source, VectorSource
from likewise.methods.views import OfPictures, OfVectors, Views
from likewise.nn.augment.config import make_augmentation
from likewise.nn.augment.features import VectorViews
from likewise.nn.backbones import make_backbone
from likewise.nn.heads import VectorTrunk
from likewise.nn.scaling import FacetAxes, FacetScaling, narrowed

MakeContext = Callable[[int], nn.Module | None]  # width of the features -> attention


def build_network(
    settings: SimpleNamespace,
    source: Source,
    scaling: nn.Module | None,
    context: MakeContext | None = None,
) -> ClusterNetwork:
    """Return an untrained network for `source`; see `build_scaling` for `scaling`."""
    shape: Architecture = settings.architecture or Architecture()
    backbone, n_features = build_body(settings, source)
    return ClusterNetwork(
        backbone,
        n_features,
        scaling=scaling,
        context=context and context(n_features),
        n_hidden=shape.n_hidden,
        n_projection=shape.n_projection,
        n_clusters=int(settings.n_clusters),
    )


def build_body(settings: SimpleNamespace, source: Source) -> tuple[nn.Module, int]:
    """Return backbone and width of its features: a small trunk for vectors."""
    shape: Architecture = settings.architecture or Architecture()
    if source.n_columns is None:
        backbone = make_backbone(settings.backbone)
        return backbone, backbone.n_features
    n_in = max(part.stop for part in narrowed(source.slices).values())
    return VectorTrunk(n_in, shape.n_features), shape.n_features


def build_scaling(source: Source) -> nn.Module | None:
    """Return what vectors go through before any view is drawn, fitted where they are there."""
    if source.n_columns is None:
        return None
    scaling = FacetScaling(source.slices, source.n_columns)
    axes = FacetAxes(source.slices, source.n_columns)
    is_narrow = axes.n_out == source.n_columns
    if isinstance(source, VectorSource):
        scaling.fit(source.matrix)
        if not is_narrow:
            rows = torch.from_numpy(np.asarray(source.matrix, dtype=np.float32))
            axes.fit(scaling(rows).numpy())
    return scaling if is_narrow else nn.Sequential(scaling, axes)


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
        return OfVectors(recipe, narrowed(source.slices))
    return OfPictures(make_augmentation(shape.recipe, size=shape.size), settings.views)
