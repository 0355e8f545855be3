"""Random augmentation of feature vectors: noise, dropout and mixing with neighbours."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError

VIEWS = ("two", "one", "none")


@dataclass(frozen=True)
class VectorViews:
    """Everything a random view of a vector depends on.

    Vectors should be standardised before, so that 0 says nothing and noise
    is in units of what is normal.

    Parameters
    ----------
    dropout : float
        Probability that a value is set to 0; the others grow to keep the sum.
    noise : float
        Standard deviation of what is added to every value.
    facet_dropout : float
        Probability that a whole facet is set to 0; one facet always stays.
    views : {"two", "one", "none"}
        How many of the two views are random. Two equal views collapse: "none" is
        there to show that.

    Examples
    --------
    >>> VectorViews(noise=0.2).views
    'two'
    """

    dropout: float = 0.2
    noise: float = 0.1
    facet_dropout: float = 0.0
    views: str = "two"

    def __post_init__(self) -> None:
        for name in ("dropout", "facet_dropout"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise InvalidParameterError(
                    f"{name}={value} leaves nothing to look at; choose a value from 0 to below 1."
                )
        if not self.noise >= 0:
            raise InvalidParameterError(
                f"noise={self.noise} is not a standard deviation; choose 0 or more."
            )
        if self.views not in VIEWS:
            raise UnknownNameError("number of views", self.views, VIEWS)
        if self.views != "none" and self.dropout == self.noise == self.facet_dropout == 0:
            raise InvalidParameterError(
                "dropout=0, noise=0 and facet_dropout=0 make both views equal, which collapses all "
                'clusters into one; raise one of them, or say views="none" to see that.'
            )


@torch.no_grad()
def two_vector_views(
    vectors: Tensor,
    recipe: VectorViews,
    generator: torch.Generator,
    slices: Mapping[str, slice] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return two views of each vector, drawn from `generator` and from nothing else.

    Parameters
    ----------
    vectors : Tensor of shape (b, d)
    recipe : VectorViews
    generator : torch.Generator
        On the CPU.
    slices : mapping of str to slice, optional
        Where each facet lies; needed to leave facets out.
    """
    if recipe.facet_dropout > 0 and not slices:
        raise InvalidParameterError(
            f"facet_dropout={recipe.facet_dropout} needs to know where the facets are; give "
            "`slices`, or set facet_dropout to 0."
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
    if slices and recipe.facet_dropout > 0:
        view = view * on_device(_kept_facets(view.shape, recipe.facet_dropout, generator, slices))
    return view


def _kept_facets(
    shape: torch.Size, probability: float, generator: torch.Generator, slices: Mapping[str, slice]
) -> Tensor:
    """Return a mask ``(b, d)``: 1 where the facet stays."""
    draws = torch.rand(shape[0], len(slices), generator=generator)
    # Not the one that was nearest to staying anyway, the largest draw: it always stays.
    stays = (draws >= probability) | (draws == draws.amax(dim=1, keepdim=True))
    mask = torch.ones(shape)
    for number, facet in enumerate(slices.values()):
        mask[:, facet] = stays[:, number : number + 1].to(mask.dtype)
    return mask
