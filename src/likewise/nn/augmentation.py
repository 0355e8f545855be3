"""Augmentation settings of images (named presets), and random augmentation of vectors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError

# Mean and standard deviation of each channel, pixels in [0, 1].
STATISTICS: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]] = MappingProxyType(
    {"imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))}
)


@dataclass(frozen=True)
class AugmentationConfig:
    """Everything a random view depends on; the defaults are [CC]_'s for small images.

    Parameters
    ----------
    size : int
        Side of a view in pixels.
    scale, ratio : (float, float)
        Fraction of the image's area, and width over height, of the crop.
    flip : float
        Probability of a mirror image.
    strength : float
        Of all colour changes, "s" in the papers; 0 turns them off.
    jitter : float
        Range of brightness, contrast and saturation at strength 1.
    hue : float
        Range of the hue at strength 1, in turns of the colour wheel.
    jitter_probability, grayscale : float
        Probability of colour changes, and of a grey view.
    blur : float
        Probability of Gaussian blur; 0 turns it off.
    blur_kernel : int
        Its width in pixels, odd.
    blur_sigma : (float, float)
        Range of its standard deviation in pixels.
    normalise : {None, "imagenet"}
        Normalise channels by the means and standard deviations of this data set.

    Examples
    --------
    >>> AugmentationConfig(size=32).strength
    0.5
    """

    size: int = 224
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)
    flip: float = 0.5
    strength: float = 0.5
    jitter: float = 0.8
    hue: float = 0.2
    jitter_probability: float = 0.8
    grayscale: float = 0.2
    blur: float = 0.0
    blur_kernel: int = 23
    blur_sigma: tuple[float, float] = (0.1, 2.0)
    normalise: str | None = None

    def __post_init__(self) -> None:
        self._check_ranges()
        for name in ("flip", "jitter_probability", "grayscale", "blur"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise InvalidParameterError(
                    f"{name} must be a probability between 0 and 1, got {value}."
                )
        if self.normalise is not None and self.normalise not in STATISTICS:
            raise UnknownNameError("normalisation", self.normalise, STATISTICS)
        if self.blur > 0 and (self.blur_kernel % 2 == 0 or self.size <= self.blur_kernel // 2):
            raise InvalidParameterError(
                "blur_kernel must be odd and less than twice the size of the view, got "
                f"blur_kernel={self.blur_kernel} for size={self.size}; or use blur=0."
            )

    def _check_ranges(self) -> None:
        if self.size < 1:
            raise InvalidParameterError(f"size must be at least 1, got {self.size}.")
        for name, highest in (("scale", 1.0), ("ratio", float("inf")), ("blur_sigma", 1e3)):
            low, high = getattr(self, name)
            if not 0 < low <= high <= highest:
                raise InvalidParameterError(
                    f"{name} must be two values above 0 and at most {highest:g}, the smaller one "
                    f"first, got ({low}, {high})."
                )
        if not (self.strength >= 0 and self.jitter >= 0 and 0 <= self.strength * self.hue <= 0.5):
            raise InvalidParameterError(
                "strength and jitter must be >= 0, and strength times hue between 0 and 0.5, got "
                f"strength={self.strength}, jitter={self.jitter}, hue={self.hue}."
            )


AUGMENTATIONS: Mapping[str, AugmentationConfig] = MappingProxyType(
    {
        "cc-small": AugmentationConfig(),  # CIFAR, Tiny-ImageNet
        "cc-large": AugmentationConfig(strength=1.0),  # STL-10
        "cc-imagenet": AugmentationConfig(strength=1.0, blur=0.5),  # ImageNet-10, ImageNet-Dogs
        "pcl": AugmentationConfig(size=128, normalise="imagenet"),
        "simclr-dsac": AugmentationConfig(size=96, scale=(0.2, 1.0)),  # DSAC's pre-training
        "gentle": AugmentationConfig(
            scale=(0.5, 1.0)
        ),  # ours, for criteria that show in small details
    }
)


def make_augmentation(name: str, *, size: int | None = None) -> AugmentationConfig:
    """Return the augmentation of a paper by name, with another size if one is given.

    Examples
    --------
    >>> make_augmentation("pcl", size=32).size
    32
    """
    if name not in AUGMENTATIONS:
        raise UnknownNameError("recipe", name, AUGMENTATIONS)
    recipe = AUGMENTATIONS[name]
    return recipe if size is None else replace(recipe, size=size)


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
