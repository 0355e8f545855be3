"""From pixels to features, trainable: the papers' networks by configuration, or any module."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from likewise.errors import EncoderError, InvalidParameterError, UnknownNameError

#: blocks of each stage, kind of block, features over base width
_RESNETS = {
    "resnet18": ((2, 2, 2, 2), "basic", 1),
    "resnet34": ((3, 4, 6, 3), "basic", 1),
    "resnet50": ((3, 4, 6, 3), "bottleneck", 4),
}
#: kernel, stride, and whether a max-pool follows
_STEMS = {"7x7": (7, 2, True), "3x3": (3, 1, False), "3x3/2": (3, 2, False)}
BACKBONES = (*_RESNETS, "convnext-tiny")


class Backbone(nn.Module):
    """A network that says how wide its features are; that is all a head needs.

    Parameters
    ----------
    network : nn.Module
        Pictures ``(b, 3, s, s)`` in, ``(b, n_features)`` out.
    n_features : int
    """

    def __init__(self, network: nn.Module, n_features: int) -> None:
        super().__init__()
        self.network, self.n_features = network, n_features

    def forward(self, images: Tensor) -> Tensor:
        """Return features (b, n_features)."""
        features: Tensor = self.network(images)
        return features


class Pooled(nn.Module):
    """A transformers model, of which only the pooled output is looked at."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        """Return (b, n_features)."""
        pooled: Tensor = self.model(images).pooler_output
        return pooled.flatten(1)


@dataclass(frozen=True)
class Shape:
    """What may be chosen about a ResNet.

    Parameters
    ----------
    width : int
        Channels of the stem and of the first stage of basic blocks; 64 in the papers.
    stem : {"7x7", "3x3/2", "3x3"}
        As in the papers, 7x7 at stride 2 with a max-pool: a quarter of the side; or 3x3
        without max-pool at stride 2 or 1, for small pictures.
    """

    width: int = 64
    stem: str = "7x7"

    def __post_init__(self) -> None:
        if self.width < 1:
            raise InvalidParameterError(f"width={self.width} must be at least 1 channel.")
        if self.stem not in _STEMS:
            raise UnknownNameError("stem", self.stem, _STEMS)


def make_backbone(backbone: str | nn.Module) -> Backbone:
    """Return a trainable network, untrained if it is given by name.

    Parameters
    ----------
    backbone : str or nn.Module
        ``resnet18``, ``resnet34`` (512 features, as in the papers), ``resnet50`` or
        ``convnext-tiny``; a ResNet may be followed by choices, as in
        ``resnet18:width=32,stem=3x3``. Or a module from pictures to vectors, of which a copy
        is trained: the next training begins where this one did.

    Notes
    -----
    Weights are drawn from torch's global generator, as all initialisers of torch do:
    call this inside `borrowed_global_generator`. Convolutions of ResNets start from
    He's normal distribution over their outputs [HE]_.
    """
    if isinstance(backbone, nn.Module):
        copy = deepcopy(backbone)
        return copy if isinstance(copy, Backbone) else _measured(copy)
    name, _, choices = backbone.partition(":")
    if name not in BACKBONES:
        raise UnknownNameError("backbone", name, BACKBONES)
    if name in _RESNETS:
        return resnet(name, Shape(**_choices(choices)))
    if choices:
        raise InvalidParameterError(f"{backbone!r}: {name} has nothing to choose; write {name!r}.")
    return convnext_tiny()


def resnet(name: str, shape: Shape) -> Backbone:
    """Return a ResNet of 18, 34 or 50 layers [RESNET]_, without its classifier."""
    from transformers import ResNetConfig, ResNetModel

    depths, layer_type, expansion = _RESNETS[name]
    widths = [shape.width * expansion * 2**stage for stage in range(4)]
    config = ResNetConfig(
        embedding_size=shape.width,
        hidden_sizes=widths,
        depths=list(depths),
        layer_type=layer_type,
    )
    model = ResNetModel(config)
    kernel, stride, is_pooled = _STEMS[shape.stem]
    if not is_pooled:
        small = nn.Conv2d(3, shape.width, kernel, stride, kernel // 2, bias=False)
        nn.init.kaiming_normal_(small.weight, mode="fan_out", nonlinearity="relu")
        model.embedder.embedder.convolution = small
        model.embedder.add_module("pooler", nn.Identity())
    return Backbone(Pooled(model), widths[-1])


def convnext_tiny() -> Backbone:
    """Return ConvNeXt-T [CONVNEXT]_, without its classifier: 768 features."""
    from transformers import ConvNextConfig, ConvNextModel

    widths = [96, 192, 384, 768]
    config = ConvNextConfig(hidden_sizes=widths, depths=[3, 3, 9, 3])
    return Backbone(Pooled(ConvNextModel(config)), widths[-1])


def _choices(text: str) -> dict[str, Any]:
    """Return ``width=32,stem=3x3`` as arguments of `Shape`."""
    kinds: dict[str, Callable[[str], Any]] = {"width": int, "stem": str}
    chosen: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        if key not in kinds:
            raise UnknownNameError("choice about a ResNet", key, kinds)
        try:
            chosen[key] = kinds[key](value)
        except ValueError:
            raise InvalidParameterError(
                f"{part!r}: {key} is a whole number; try {key}=32."
            ) from None
    return chosen


def _measured(module: nn.Module, size: int = 64) -> Backbone:
    """Return `module` with the width of what it gives, seen on one blank picture."""
    was_training = module.training
    with torch.no_grad():
        out = module.eval()(torch.zeros(1, 3, size, size))
    module.train(was_training)
    if not isinstance(out, Tensor) or out.ndim != 2:
        what = f"shape {tuple(out.shape)}" if isinstance(out, Tensor) else type(out).__name__
        raise EncoderError(
            f"The backbone {type(module).__name__} gives {what} for one picture, not a vector "
            "(1, d); pool and flatten its output: "
            "nn.Sequential(module, nn.AdaptiveAvgPool2d(1), nn.Flatten())."
        )
    return Backbone(module, out.shape[1])
