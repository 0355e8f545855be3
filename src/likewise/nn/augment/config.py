"""Augmentation settings: which random transformations, their strength, and the papers' presets."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

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
