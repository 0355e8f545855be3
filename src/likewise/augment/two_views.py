"""Two random views of every image of a batch: what 'the same' means before anyone is asked."""

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.augment.blur import random_blur
from likewise.augment.colour import grey, jitter
from likewise.augment.crop import crop_resize, draw_boxes
from likewise.augment.recipe import STATISTICS, Recipe
from likewise.errors import InvalidParameterError, UnknownNameError

VIEWS = ("two", "one", "none")


@torch.no_grad()
def two_views(
    images: Tensor, recipe: Recipe, generator: torch.Generator, *, views: str = "two"
) -> tuple[Tensor, Tensor]:
    """Return two views of each image, drawn from `generator` and from nothing else.

    Parameters
    ----------
    images : Tensor of shape (b, 3, h, w)
        uint8, or floats in [0, 1].
    recipe : Recipe
    generator : torch.Generator
        On the CPU; the same state gives the same views on every device, up to rounding.
    views : {"two", "one", "none"}
        How many of the two are random; the others show the whole picture. Only
        for [CC]_'s ablation (Table 4): with "none" the clusters collapse.

    Returns
    -------
    a, b : Tensor of shape (b, 3, size, size)
        float32.

    Notes
    -----
    Crop, mirror, colour, grey, blur, normalise: [CC]_ section 4.1, in the order of
    the authors' code; every image has draws of its own.

    Fidelity: pixels stay floats between steps, where Pillow rounds to 256 values.
    """
    if views not in VIEWS:
        raise UnknownNameError("number of views", views, VIEWS)
    if views == "two":
        return one_view(images, recipe, generator), one_view(images, recipe, generator)
    whole = evaluation_view(images, recipe.size, recipe.normalise)
    return (one_view(images, recipe, generator) if views == "one" else whole), whole


@torch.no_grad()
def one_view(images: Tensor, recipe: Recipe, generator: torch.Generator) -> Tensor:
    """Return one random view of each image; see `two_views`."""
    pixels = _as_floats(images)
    n, _, h, w = pixels.shape
    with torch.autocast(pixels.device.type, enabled=False):  # no views of 8 bits
        boxes = draw_boxes(n, (h, w), recipe.scale, recipe.ratio, generator)
        mirrored = torch.rand(n, generator=generator) < recipe.flip
        view = crop_resize(pixels, boxes, mirrored, recipe.size)
        if recipe.strength > 0:
            view = jitter(view, recipe, generator)
        if recipe.grayscale > 0:
            view = grey(view, recipe.grayscale, generator)
        if recipe.blur > 0:
            view = random_blur(view, recipe, generator)
    return _normalised(view, recipe.normalise)


@torch.no_grad()
def evaluation_view(images: Tensor, size: int, normalise: str | None = None) -> Tensor:
    """Return each image whole at `size` x `size` pixels: what predictions are made from.

    Parameters
    ----------
    images : Tensor of shape (b, 3, h, w)
        uint8, or floats in [0, 1].
    size : int
    normalise : {None, "imagenet"}
    """
    pixels = _as_floats(images)
    if pixels.shape[-2:] != (size, size):
        pixels = F.interpolate(pixels, (size, size), mode="bilinear", antialias=True)
    return _normalised(pixels, normalise)


def _as_floats(images: Tensor) -> Tensor:
    """Return pixels in [0, 1], float32."""
    if images.dim() != 4 or images.shape[1] != 3 or 0 in images.shape:
        raise InvalidParameterError(
            f"images has shape {tuple(images.shape)}, but views are taken of colour pictures "
            "(b, 3, h, w); put channels second, and repeat a grey channel three times."
        )
    if images.dtype == torch.uint8:
        return images.float() / 255
    lowest, highest = (float(bound) for bound in images.aminmax())
    if not (images.is_floating_point() and lowest >= 0 and highest <= 1):
        raise InvalidParameterError(
            f"images has values from {lowest:g} to {highest:g} as {images.dtype}, but pixels are "
            "uint8 from 0 to 255 or floats from 0 to 1; divide by 255, or convert to uint8."
        )
    return images.float()


def _normalised(pixels: Tensor, name: str | None) -> Tensor:
    if name is None:
        return pixels
    if name not in STATISTICS:
        raise UnknownNameError("normalisation", name, STATISTICS)
    mean, deviation = (pixels.new_tensor(values)[:, None, None] for values in STATISTICS[name])
    return (pixels - mean) / deviation
