"""Two views of a batch, of vectors or of pictures, and the plain view of evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from likewise.nn.augment.config import AugmentationConfig
from likewise.nn.augment.features import VectorViews, two_vector_views
from likewise.nn.augment.images import evaluation_view, two_views


class Views(Protocol):
    """Random views to learn from, and the one view by which images are judged."""

    def draw(self, rows: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return two random views of each row."""

    def plain(self, rows: Tensor) -> Tensor:
        """Return the rows as they are seen in evaluation."""


@dataclass(frozen=True)
class OfVectors:
    """Views of scaled vectors: feature dropout, noise, facet dropout."""

    recipe: VectorViews
    slices: Mapping[str, slice]

    def draw(self, rows: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return two random views of each vector."""
        return two_vector_views(rows, self.recipe, rng, self.slices)

    def plain(self, rows: Tensor) -> Tensor:
        """Return the vectors themselves."""
        return rows


@dataclass(frozen=True)
class OfPictures:
    """Views of pictures: crop, flip, colour, grey, blur."""

    recipe: AugmentationConfig
    how: str = "two"  # "two", or the ablations "one" and "none"

    def draw(self, rows: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return two random views of each picture."""
        return two_views(rows, self.recipe, rng, views=self.how)

    def plain(self, rows: Tensor) -> Tensor:
        """Return the pictures resized and normalised, nothing random."""
        return evaluation_view(rows, self.recipe.size, self.recipe.normalise)
