"""What a network sees: images or vectors, scaled, augmented into two views."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from likewise.estimators.block_scaling import BlockScaler
from likewise.estimators.data import Data, InputSpec, VectorData
from likewise.estimators.params import NetworkConfig
from likewise.nn.augment.config import AugmentationConfig, make_augmentation
from likewise.nn.augment.features import VectorViews, two_vector_views
from likewise.nn.augment.images import evaluation_view, two_views
from likewise.nn.scaling import BlockProjection, BlockScaling, narrow_slices


def network_input(encoder: Any, backbone: Any, config: NetworkConfig) -> InputSpec:
    """Return what a network is trained on: vectors of `encoder`, or images.

    With a `backbone` only images; without one, images are embedded if an `encoder` is given,
    and else train the default backbone. Vectors are used as they are.
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
        facet_dropout=config.facet_dropout,
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
