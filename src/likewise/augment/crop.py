"""Random crops, resized and mirrored: one pair of small matrices a picture."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from likewise.augment.separable import mix

_ATTEMPTS = 10  # as many as torchvision makes before it takes the whole picture


@dataclass(frozen=True)
class Boxes:
    """One crop a picture, in pixels of the source; each field is a tensor (n,)."""

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
    products. kornia's crop has no antialiasing, and is slower for small pictures.

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
    # In place: for large pictures these passes cost as much as the products they are for.
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
