"""Gaussian blur of random width, as two matrix products a picture."""

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.augment.recipe import Recipe
from likewise.augment.separable import mix

_NOTHING = 1e-15  # tails below it would be denormal numbers, which processors are slow at


def blur(images: Tensor, sigma: Tensor, kernel: int) -> Tensor:
    """Return `images` blurred, each by its own `sigma`; borders are reflected.

    A band matrix from the left and one from the right; kornia convolves each
    picture with a kernel of its own, which is slower on a CPU.

    Parameters
    ----------
    images : Tensor of shape (n, c, h, w)
    sigma : Tensor of shape (n,)
        Standard deviation in pixels.
    kernel : int
        Width of the kernel in pixels, odd, less than twice each side of the picture.
    """
    offsets = torch.arange(kernel, device=images.device) - kernel // 2
    weights = (-((offsets / sigma[:, None]) ** 2) / 2).softmax(dim=1)  # (n, kernel)
    weights = torch.where(weights < _NOTHING, 0.0, weights)
    h, w = images.shape[-2:]
    rows, columns = _band(weights, offsets, h), _band(weights, offsets, w)
    return mix(images, rows, columns)


def random_blur(images: Tensor, recipe: Recipe, generator: torch.Generator) -> Tensor:
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
