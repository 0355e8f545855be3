"""Random changes of colour, each picture its own, in its own order."""

import torch
from kornia.color import rgb_to_grayscale
from kornia.enhance import (
    adjust_brightness_accumulative,
    adjust_contrast_with_mean_subtraction,
    adjust_saturation_with_gray_subtraction,
)
from torch import Tensor

from likewise.augment.recipe import Recipe


def shift_hue(images: Tensor, turns: Tensor) -> Tensor:
    r"""Turn every colour around the wheel.

    Not kornia's, which takes twice as long: here only the hue is computed,
    not saturation and value and the way back.

    Parameters
    ----------
    images : Tensor of shape (n, 3, h, w)
        In [0, 1].
    turns : Tensor of shape (n,)
        1 is once around.

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
        # In place: these are the passes over all pixels that cost.
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


def jitter(images: Tensor, recipe: Recipe, generator: torch.Generator) -> Tensor:
    """Return `images` with brightness, contrast, saturation and hue changed at random.

    Which pictures, how much and in which order is drawn for each alone;
    values are kept in [0, 1] after every change.
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
    """Return `images`, some of them without colour."""
    chosen = torch.rand(len(images), generator=generator) < probability
    return torch.where(
        chosen[:, None, None, None].to(images.device), rgb_to_grayscale(images), images
    )
