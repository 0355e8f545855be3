"""EfficientNet-lite as a plain network whose stages can be looked at one by one."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor, nn

CENTRE, SCALE = 127.0, 128.0  # of the pixels
STEM_WIDTH = 32
HEAD_WIDTH = 1280
_EPS = 1e-3  # of batch normalisation, as the weights were trained

#: kernel, stride, expansion, width, repeats of each stage of lite0
_STAGES = (
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
)
#: how much wider and deeper than lite0; stem, head and the outer repeats stay as they are
SCALES = {"lite0": (1.0, 1.0), "lite2": (1.1, 1.2)}


@dataclass(frozen=True)
class Step:
    """One convolution with all that follows it, so that it can be run as one operation."""

    n_in: int
    n_out: int
    kernel: int = 1
    stride: int = 1
    groups: int = 1
    is_clipped: bool = True  # followed by ReLU6


class ConvBN(nn.Module):
    """Convolution padded as TensorFlow does, batch normalisation, and ReLU6 if asked for."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.step = step
        self.conv = nn.Conv2d(
            step.n_in, step.n_out, step.kernel, step.stride, groups=step.groups, bias=False
        )
        self.norm = nn.BatchNorm2d(step.n_out, eps=_EPS, momentum=0.01)

    def forward(self, x: Tensor) -> Tensor:
        """Return (b, n_out, h/stride, w/stride), rounded up."""
        x = self.norm(self.conv(F.pad(x, same_padding(x, self.step))))
        return F.relu6(x) if self.step.is_clipped else x


class Block(nn.Module):
    """Expand, look around in each channel, project; added to what came in if the shape stayed."""

    def __init__(self, n_in: int, n_out: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = n_in * expansion
        steps = [Step(n_in, wide)] if expansion > 1 else []
        steps.append(Step(wide, wide, kernel, stride, groups=wide))
        steps.append(Step(wide, n_out, is_clipped=False))
        self.layers = nn.Sequential(*(ConvBN(step) for step in steps))
        self.is_residual = stride == 1 and n_in == n_out

    def forward(self, x: Tensor) -> Tensor:
        """Return (b, n_out, h/stride, w/stride)."""
        y: Tensor = self.layers(x)
        return x + y if self.is_residual else y


class EfficientNetLite(nn.Module):
    """EfficientNet-lite without its classifier.

    Parameters
    ----------
    variant : {"lite0", "lite2"}

    Notes
    -----
    The lite networks are EfficientNet [EFF]_ without squeeze-and-excitation, with
    ReLU6 for swish, and with stem and head of a fixed width. Input is
    ``(x - 127) / 128`` for pixels ``x`` in 0..255.
    """

    def __init__(self, variant: str = "lite0") -> None:
        super().__init__()
        self.stem = ConvBN(Step(3, STEM_WIDTH, kernel=3, stride=2))
        self.stages = nn.ModuleList()
        n_in = STEM_WIDTH
        for kernel, stride, expansion, width, repeats in scaled_stages(variant):
            blocks = [Block(n_in, width, kernel, stride, expansion)]
            blocks += [Block(width, width, kernel, 1, expansion) for _ in range(repeats - 1)]
            self.stages.append(nn.Sequential(*blocks))
            n_in = width
        self.head = ConvBN(Step(n_in, HEAD_WIDTH))

    def forward(self, x: Tensor) -> list[Tensor]:
        """Return what each stage gives, and the head's map last; each (b, width, h, w)."""
        x, maps = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return [*maps, self.head(x)]


def scaled_stages(variant: str) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield kernel, stride, expansion, width and repeats of each stage of a variant."""
    wider, deeper = SCALES[variant]
    for position, (kernel, stride, expansion, width, repeats) in enumerate(_STAGES):
        is_outer = position in {0, len(_STAGES) - 1}
        more = repeats if is_outer else math.ceil(repeats * deeper)
        yield kernel, stride, expansion, round_width(width * wider), more


def round_width(width: float) -> int:
    """Return the multiple of 8 nearest to `width`, but never less than nine tenths of it."""
    rounded = max(8, int(width + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * width else rounded


def same_padding(x: Tensor, step: Step) -> tuple[int, int, int, int]:
    """Return left, right, top, bottom such that the output is the input over stride, rounded up.

    An odd row goes to the bottom and right, as in TensorFlow, where the weights come from.
    """
    down, across = (
        max((math.ceil(n / step.stride) - 1) * step.stride + step.kernel - n, 0)
        for n in x.shape[-2:]
    )
    return across // 2, across - across // 2, down // 2, down - down // 2


def from_published(weights: Mapping[str, Tensor], network: EfficientNetLite) -> dict[str, Tensor]:
    """Return the published weights under the names of `network`; the classifier is left out.

    Both lay the layers out in the order they are computed, so position decides and
    `load_state_dict` checks every shape.
    """
    published = [(name, value) for name, value in weights.items() if not name.startswith("_fc.")]
    convs = [value for name, value in published if "conv" in name]
    norms: dict[str, list[Tensor]] = {}
    for name, value in published:
        if "_bn" in name:
            norms.setdefault(name.rpartition(".")[2], []).append(value)
    layers = [name for name, module in network.named_modules() if isinstance(module, ConvBN)]
    named = {f"{layer}.conv.weight": conv for layer, conv in zip(layers, convs, strict=True)}
    for key, values in norms.items():
        named |= {f"{layer}.norm.{key}": v for layer, v in zip(layers, values, strict=True)}
    return named
