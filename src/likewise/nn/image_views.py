"""Random augmentation of image batches: crop, flip, colour jitter, greyscale, blur."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from kornia.color import rgb_to_grayscale
from kornia.enhance import (
    adjust_brightness_accumulative,
    adjust_contrast_with_mean_subtraction,
    adjust_saturation_with_gray_subtraction,
)
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.nn.augmentation import STATISTICS, AugmentationConfig


def mix(images: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Return ``rows @ image @ columns.T`` for each channel of each image.

    Parameters
    ----------
    images : Tensor of shape (n, c, h, w)
    rows : Tensor of shape (n, s, h)
    columns : Tensor of shape (n, t, w)

    Returns
    -------
    mixed : Tensor of shape (n, c, s, t)
    """
    (n, c, h, w), s, t = images.shape, rows.shape[1], columns.shape[1]
    # Channels side by side, so that an image is one large product and not c small ones.
    across = images.reshape(n, c * h, w) @ columns.transpose(1, 2)  # (n, c h, t)
    side_by_side = across.view(n, c, h, t).transpose(1, 2).reshape(n, h, c * t)  # (n, h, c t)
    down = rows @ side_by_side  # (n, s, c t)
    return down.view(n, s, c, t).transpose(1, 2).contiguous()


_ATTEMPTS = 10  # as in torchvision, before the whole image is used


@dataclass(frozen=True)
class Boxes:
    """One crop for each image, in pixels of the source; each field is a tensor (n,)."""

    top: Tensor
    left: Tensor
    height: Tensor
    width: Tensor


def draw_boxes(
    n: int,
    source: tuple[int, int],
    scale: tuple[float, float],
    ratio: tuple[float, float],
    generator: torch.Generator,
) -> Boxes:
    """Return `n` random boxes within a `source` of (height, width).

    Area and the logarithm of the aspect are uniform. A box that does not fit
    is drawn again, and after ten attempts is the largest central one allowed.
    """
    h, w = source
    shape = (n, _ATTEMPTS)
    area = h * w * _uniform(shape, *scale, generator)
    aspect = _uniform(shape, math.log(ratio[0]), math.log(ratio[1]), generator).exp()
    widths, heights = (area * aspect).sqrt().round(), (area / aspect).sqrt().round()
    fits = (widths >= 1) & (widths <= w) & (heights >= 1) & (heights <= h)  # (n, attempts)
    first = fits.byte().argmax(dim=1, keepdim=True)
    width, height = widths.gather(1, first)[:, 0], heights.gather(1, first)[:, 0]
    u_top, u_left = torch.rand(2, n, generator=generator)
    top = (u_top * (h - height + 1)).floor()
    left = (u_left * (w - width + 1)).floor()
    central = _largest_central(h, w, ratio)
    drawn = torch.stack([top, left, height, width])  # (4, n)
    return Boxes(*torch.where(fits.any(dim=1), drawn, central[:, None]))


def crop_resize(images: Tensor, boxes: Boxes, mirrored: Tensor, size: int) -> Tensor:
    """Return the boxes of `images` at `size` x `size` pixels, some of them mirrored.

    Bilinear with antialiasing, as Pillow does it: every output row is a weighted
    mean of source rows, so cropping, resizing and mirroring are two matrix
    products. kornia's crop has no antialiasing, and is slower for small images.

    Parameters
    ----------
    images : Tensor of shape (n, c, h, w)
    boxes : Boxes
    mirrored : Tensor of shape (n,)
        Of booleans.
    size : int
    """
    h, w = images.shape[-2:]
    rows = _resampling(boxes.top, boxes.height, h, size)  # (n, size, h)
    columns = _resampling(boxes.left, boxes.width, w, size)  # (n, size, w)
    columns = torch.where(mirrored[:, None, None], columns.flip(1), columns)
    return mix(images, rows.to(images), columns.to(images))


def _resampling(start: Tensor, length: Tensor, n_source: int, n_out: int) -> Tensor:
    """Return weights (n, n_out, n_source): which source pixels make an output pixel.

    A triangle around the output pixel's centre, as wide as the step between two
    of them but at least one pixel, cut at the box.
    """
    step = (length / n_out)[:, None, None]
    centre = start[:, None, None] + (torch.arange(n_out)[:, None] + 0.5) * step
    source = torch.arange(n_source) + 0.5
    # In place: for large images these passes cost as much as the products.
    weights = (source - centre).abs_().div_(-step.clamp_min(1)).add_(1).clamp_min_(0)
    end = start + length
    inside = (source > start[:, None, None]) & (source < end[:, None, None])
    weights *= inside
    return weights.div_(weights.sum(dim=2, keepdim=True))


def _largest_central(h: int, w: int, ratio: tuple[float, float]) -> Tensor:
    """Return top, left, height, width of the largest central box of an allowed aspect."""
    height = min(h, round(w / ratio[0]))
    width = min(w, round(h * ratio[1]))
    return torch.tensor([(h - height) // 2, (w - width) // 2, height, width]).float()


def _uniform(shape: tuple[int, ...], low: float, high: float, generator: torch.Generator) -> Tensor:
    return low + (high - low) * torch.rand(shape, generator=generator)


def shift_hue(images: Tensor, turns: Tensor) -> Tensor:
    r"""Rotate the hue of every pixel.

    kornia's takes twice as long, since it also converts saturation and value.

    Parameters
    ----------
    images : Tensor of shape (n, 3, h, w)
        In [0, 1].
    turns : Tensor of shape (n,)
        1 is a full rotation.

    Notes
    -----
    With value :math:`v`, chroma :math:`c = v - \min` and hue :math:`h \in [0, 6)`, a channel
    is :math:`v - c \cdot \mathrm{clip}(\min(k, 4 - k), 0, 1)`, :math:`k = (o + h) \bmod 6`, with
    :math:`o = 5, 3, 1` for red, green, blue.
    """
    red, green, blue = images.unbind(1)  # (n, h, w)
    value = torch.maximum(torch.maximum(red, green), blue)
    chroma = value - torch.minimum(torch.minimum(red, green), blue)
    is_red, is_green = value == red, value == green
    difference = torch.where(is_red, green - blue, torch.where(is_green, blue - red, red - green))
    sector = torch.where(is_red, 0.0, torch.where(is_green, 2.0, 4.0))
    hue = (difference / chroma.clamp_min(1e-12)).add_(sector).add_(6 * turns[:, None, None])
    turned = torch.empty_like(images)
    for channel, offset in enumerate((5, 3, 1)):
        # In place: these are passes over all pixels.
        k = (hue + offset).remainder_(6)
        fall = k.sub_(2).abs_().neg_().add_(2).clamp_(0, 1)  # min(k, 4 - k), clipped
        turned[:, channel] = value - fall.mul_(chroma)
    return turned


_CHANGES = (
    adjust_brightness_accumulative,
    adjust_contrast_with_mean_subtraction,
    adjust_saturation_with_gray_subtraction,
    shift_hue,
)


def jitter(images: Tensor, recipe: AugmentationConfig, generator: torch.Generator) -> Tensor:
    """Return `images` with brightness, contrast, saturation and hue changed at random.

    Whether, how much and in which order is drawn for each image; values are clipped to
    [0, 1] after every change.
    """
    n, s = len(images), recipe.strength
    low = torch.tensor([max(0.0, 1 - s * recipe.jitter)] * 3 + [-s * recipe.hue])
    high = torch.tensor([1 + s * recipe.jitter] * 3 + [s * recipe.hue])
    amounts = low + (high - low) * torch.rand(n, 4, generator=generator)  # (n, changes)
    order = torch.rand(n, 4, generator=generator).argsort(dim=1)  # (n, steps)
    chosen = torch.rand(n, generator=generator) < recipe.jitter_probability
    changed = images.clone()
    for step in range(4):
        for number, change in enumerate(_CHANGES):
            which = (chosen & (order[:, step] == number)).nonzero()[:, 0]
            if len(which) > 0:
                amount = amounts[which, number].to(images)
                where = which.to(images.device)
                changed[where] = change(changed[where], amount)
    return changed


def grey(images: Tensor, probability: float, generator: torch.Generator) -> Tensor:
    """Return `images`, some of them in greyscale."""
    chosen = torch.rand(len(images), generator=generator) < probability
    return torch.where(
        chosen[:, None, None, None].to(images.device), rgb_to_grayscale(images), images
    )


_NOTHING = 1e-15  # smaller weights would be denormal numbers, which are slow


def blur(images: Tensor, sigma: Tensor, kernel: int) -> Tensor:
    """Return `images` blurred, each by its own `sigma`; borders are reflected.

    Two products with band matrices; kornia's convolution with one kernel for each image is
    slower on a CPU.

    Parameters
    ----------
    images : Tensor of shape (n, c, h, w)
    sigma : Tensor of shape (n,)
        Standard deviation in pixels.
    kernel : int
        Width of the kernel in pixels, odd, less than twice each side of the image.
    """
    offsets = torch.arange(kernel, device=images.device) - kernel // 2
    weights = (-((offsets / sigma[:, None]) ** 2) / 2).softmax(dim=1)  # (n, kernel)
    weights = torch.where(weights < _NOTHING, 0.0, weights)
    h, w = images.shape[-2:]
    rows, columns = _band(weights, offsets, h), _band(weights, offsets, w)
    return mix(images, rows, columns)


def random_blur(images: Tensor, recipe: AugmentationConfig, generator: torch.Generator) -> Tensor:
    """Return `images`, some of them blurred."""
    low, high = recipe.blur_sigma
    sigma = low + (high - low) * torch.rand(len(images), generator=generator)
    which = (torch.rand(len(images), generator=generator) < recipe.blur).nonzero()[:, 0]
    blurred, where = images.clone(), which.to(images.device)
    blurred[where] = blur(images[where], sigma[which].to(images), recipe.blur_kernel)
    return blurred


def _band(weights: Tensor, offsets: Tensor, side: int) -> Tensor:
    """Return the blur along one side as a matrix, ``(n, side, side)``."""
    source = torch.arange(side, device=weights.device)[:, None] + offsets  # (side, kernel)
    source = source.abs()
    source = torch.where(source >= side, 2 * (side - 1) - source, source)  # reflected
    taps = F.one_hot(source.T, side).to(weights.dtype)  # (kernel, side, side)
    return (weights @ taps.flatten(1)).view(-1, side, side)


VIEWS = ("two", "one", "none")


@torch.no_grad()
def two_views(
    images: Tensor, recipe: AugmentationConfig, generator: torch.Generator, *, views: str = "two"
) -> tuple[Tensor, Tensor]:
    """Return two views of each image, drawn from `generator` only.

    Parameters
    ----------
    images : Tensor of shape (b, 3, h, w)
        uint8, or floats in [0, 1].
    recipe : AugmentationConfig
    generator : torch.Generator
        On the CPU; the same state gives the same views on every device, up to rounding.
    views : {"two", "one", "none"}
        Number of random views of the two; the others show the whole image. For
        [CC]_'s ablation (Table 4): with "none" the clusters collapse.

    Returns
    -------
    a, b : Tensor of shape (b, 3, size, size)
        float32.

    Notes
    -----
    Crop, mirror, colour, grey, blur, normalise: [CC]_ section 4.1, in the order of
    the authors' code; drawn for each image.

    Fidelity: pixels stay floats between steps, where Pillow rounds to 256 values.
    """
    if views not in VIEWS:
        raise UnknownNameError("number of views", views, VIEWS)
    if views == "two":
        return one_view(images, recipe, generator), one_view(images, recipe, generator)
    whole = evaluation_view(images, recipe.size, recipe.normalise)
    return (one_view(images, recipe, generator) if views == "one" else whole), whole


@torch.no_grad()
def one_view(images: Tensor, recipe: AugmentationConfig, generator: torch.Generator) -> Tensor:
    """Return one random view of each image; see `two_views`."""
    pixels = _as_floats(images)
    n, _, h, w = pixels.shape
    with torch.autocast(pixels.device.type, enabled=False):  # bf16 has too few digits for pixels
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
    """Return each whole image at `size` x `size` pixels, as used for prediction.

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
            "images must be colour images of shape (b, 3, h, w), got shape "
            f"{tuple(images.shape)}; put channels second, and repeat a grey channel three times."
        )
    if images.dtype == torch.uint8:
        return images.float() / 255
    lowest, highest = (float(bound) for bound in images.aminmax())
    if not (images.is_floating_point() and lowest >= 0 and highest <= 1):
        raise InvalidParameterError(
            "images must be uint8, or floats from 0 to 1, got values from "
            f"{lowest:g} to {highest:g} as {images.dtype}; divide by 255, or convert to uint8."
        )
    return images.float()


def _normalised(pixels: Tensor, name: str | None) -> Tensor:
    if name is None:
        return pixels
    if name not in STATISTICS:
        raise UnknownNameError("normalisation", name, STATISTICS)
    mean, deviation = (pixels.new_tensor(values)[:, None, None] for values in STATISTICS[name])
    return (pixels - mean) / deviation
