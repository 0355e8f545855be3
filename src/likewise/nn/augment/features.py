"""Random augmentation of feature vectors: noise, dropout of columns and of feature blocks."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError

VIEWS = ("two", "one", "none")


@dataclass(frozen=True)
class VectorViews:
    """Everything a random view of a vector depends on.

    Vectors should be standardised before, so that 0 is the mean and noise is in standard
    deviations.

    Parameters
    ----------
    dropout : float
        Probability that a value is set to 0; the others are scaled up to keep the mean.
    noise : float
        Standard deviation of the noise added to every value.
    block_dropout : float
        Probability that a whole feature block is set to 0; one block is always kept.
    views : {"two", "one", "none"}
        Number of random views of the two. With "none" both are equal and clusters
        collapse: an ablation.

    Examples
    --------
    >>> VectorViews(noise=0.2).views
    'two'
    """

    dropout: float = 0.2
    noise: float = 0.1
    block_dropout: float = 0.0
    views: str = "two"

    def __post_init__(self) -> None:
        for name in ("dropout", "block_dropout"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise InvalidParameterError(f"{name} must be at least 0 and below 1, got {value}.")
        if not self.noise >= 0:
            raise InvalidParameterError(f"noise must be >= 0, got {self.noise}.")
        if self.views not in VIEWS:
            raise UnknownNameError("number of views", self.views, VIEWS)
        if self.views != "none" and self.dropout == self.noise == self.block_dropout == 0:
            raise InvalidParameterError(
                "One of dropout, noise and block_dropout must be greater than 0, got 0 for all: "
                'equal views collapse all clusters into one. For that ablation use views="none".'
            )


@torch.no_grad()
def two_vector_views(
    vectors: Tensor,
    recipe: VectorViews,
    generator: torch.Generator,
    slices: Mapping[str, slice] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return two views of each vector, drawn from `generator` only.

    Parameters
    ----------
    vectors : Tensor of shape (b, d)
    recipe : VectorViews
    generator : torch.Generator
        On the CPU.
    slices : mapping of str to slice, optional
        Columns of each feature block, for `block_dropout`.
    """
    if recipe.block_dropout > 0 and not slices:
        raise InvalidParameterError(
            f"block_dropout={recipe.block_dropout} needs `slices`, got None; give them, or set "
            "block_dropout to 0."
        )
    a = vectors if recipe.views == "none" else _view(vectors, recipe, generator, slices)
    b = _view(vectors, recipe, generator, slices) if recipe.views == "two" else vectors
    return a, b


def _view(
    vectors: Tensor,
    recipe: VectorViews,
    generator: torch.Generator,
    slices: Mapping[str, slice] | None,
) -> Tensor:
    def on_device(draws: Tensor) -> Tensor:
        return draws.to(vectors)

    view = vectors
    if recipe.noise > 0:
        view = view + recipe.noise * on_device(torch.randn(view.shape, generator=generator))
    if recipe.dropout > 0:
        kept = on_device(torch.rand(view.shape, generator=generator) >= recipe.dropout)
        view = view * kept / (1 - recipe.dropout)
    if slices and recipe.block_dropout > 0:
        view = view * on_device(_kept_blocks(view.shape, recipe.block_dropout, generator, slices))
    return view


def _kept_blocks(
    shape: torch.Size, probability: float, generator: torch.Generator, slices: Mapping[str, slice]
) -> Tensor:
    """Return a mask ``(b, d)``: 1 where the block is kept."""
    draws = torch.rand(shape[0], len(slices), generator=generator)
    # The block with the largest draw is always kept.
    stays = (draws >= probability) | (draws == draws.amax(dim=1, keepdim=True))
    mask = torch.ones(shape)
    for number, block in enumerate(slices.values()):
        mask[:, block] = stays[:, number : number + 1].to(mask.dtype)
    return mask
