"""The grid ``parts``: two middle maps of the bundled network, place by place, in unit spread."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from likewise.encoders.efficientnet_lite import Block, ConvBN, EfficientNetLite

STAGES = 3, 4  # both see a sixteenth of the side; the first knows forms, the second things
Usual = tuple[Tensor, Tensor]


@torch.no_grad()
def usual(network: EfficientNetLite) -> list[Usual]:
    r"""Return mean and spread, each ``(c,)``, that the map of each stage has on photographs.

    Notes
    -----
    No photographs are needed: batch normalisation gave the last layer of block :math:`b`
    the mean :math:`\beta_b` and the spread :math:`|\gamma_b|` on the training images, and a
    residual block adds to what came in. So :math:`\sum_b \beta_b` and, as if blocks were
    independent, :math:`\sqrt{\sum_b \gamma_b^2}`.
    """
    return [_usual(network.stages[stage]) for stage in STAGES]


def _usual(stage: nn.Module) -> Usual:
    mean = squared = torch.zeros(())
    for block in stage.children():
        assert isinstance(block, Block)  # a stage holds nothing else
        last = block.layers[-1]
        assert isinstance(last, ConvBN)  # a block holds nothing else
        if not block.is_residual:
            mean = squared = torch.zeros(())
        mean, squared = mean + last.norm.bias, squared + last.norm.weight**2
    return mean, squared.sqrt().clamp_min(1e-6)


def by_place(maps: Sequence[Tensor], units: Sequence[Usual]) -> Tensor:
    """Return maps ``(b, c, h, w)`` place after place, in their units, ``(b, h w (c + c'))``."""
    places = [
        (one.flatten(2).transpose(1, 2) - mean) / spread  # (b, h w, c)
        for one, (mean, spread) in zip(maps, units, strict=True)
    ]
    return torch.cat(places, dim=2).flatten(1)


def n_places(size: int) -> int:
    """Return how many places a map of a sixteenth of the side has."""
    return (-(-size // 16)) ** 2
