"""Backbone networks for images (ResNet, ConvNeXt), and scaling layers for vector inputs."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.extmath import randomized_svd
from torch import Tensor, nn

from likewise.errors import EncoderError, InvalidParameterError, UnknownNameError

#: Blocks of each stage, type of block, ratio of features to base width.
_RESNETS = {
    "resnet18": ((2, 2, 2, 2), "basic", 1),
    "resnet34": ((3, 4, 6, 3), "basic", 1),
    "resnet50": ((3, 4, 6, 3), "bottleneck", 4),
}
#: Kernel, stride, and whether a max-pool follows.
_STEMS = {"7x7": (7, 2, True), "3x3": (3, 1, False), "3x3/2": (3, 2, False)}
BACKBONES = (*_RESNETS, "convnext-tiny")


class Backbone(nn.Module):
    """A network with the width of its features, which the heads need.

    Parameters
    ----------
    network : nn.Module
        From images ``(b, 3, s, s)`` to features ``(b, n_features)``.
    n_features : int
    """

    def __init__(self, network: nn.Module, n_features: int) -> None:
        super().__init__()
        self.network = network
        self.n_features = n_features

    def forward(self, images: Tensor) -> Tensor:
        """Return features (b, n_features)."""
        features: Tensor = self.network(images)
        return features


class PoolerOutput(nn.Module):
    """A transformers model that returns only its pooled output."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        """Return (b, n_features)."""
        pooled: Tensor = self.model(images).pooler_output
        return pooled.flatten(1)


@dataclass(frozen=True)
class ResNetShape:
    """Width and stem of a ResNet.

    Parameters
    ----------
    width : int
        Channels of the stem and of the first stage of basic blocks; 64 in the papers.
    stem : {"7x7", "3x3/2", "3x3"}
        7x7 with stride 2 and a max-pool, as in the papers, which leaves a quarter of the side
        length; or, for small images, 3x3 with stride 2 or 1 and no max-pool.
    """

    width: int = 64
    stem: str = "7x7"

    def __post_init__(self) -> None:
        if self.width < 1:
            raise InvalidParameterError(
                f"width must be an integer >= 1 (channels), got {self.width}."
            )
        if self.stem not in _STEMS:
            raise UnknownNameError("stem", self.stem, _STEMS)


def make_backbone(backbone: str | nn.Module) -> Backbone:
    """Return a trainable network; one given by name is untrained.

    Parameters
    ----------
    backbone : str or nn.Module
        ``resnet18``, ``resnet34`` (512 features, as in the papers), ``resnet50`` or
        ``convnext-tiny``; a ResNet may have options, as in ``resnet18:width=32,stem=3x3``. Or
        a module from images to vectors, of which a copy is trained, so that each training
        starts from the same weights.

    Notes
    -----
    Initialisers of torch use its global generator: call this function inside
    `borrowed_global_generator`. Convolutions of ResNets are initialised from He's normal
    distribution in fan-out mode [HE]_.
    """
    if isinstance(backbone, nn.Module):
        copy = deepcopy(backbone)
        return copy if isinstance(copy, Backbone) else _with_measured_width(copy)
    name, _, options = backbone.partition(":")
    if name not in BACKBONES:
        raise UnknownNameError("backbone", name, BACKBONES)
    if name in _RESNETS:
        return resnet(name, ResNetShape(**_parse_options(options)))
    if options:
        raise InvalidParameterError(f"{name} has no options, got {backbone!r}; write {name!r}.")
    return convnext_tiny()


def resnet(name: str, shape: ResNetShape) -> Backbone:
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
    return Backbone(PoolerOutput(model), widths[-1])


def convnext_tiny() -> Backbone:
    """Return ConvNeXt-T [CONVNEXT]_, without its classifier: 768 features."""
    from transformers import ConvNextConfig, ConvNextModel

    widths = [96, 192, 384, 768]
    config = ConvNextConfig(hidden_sizes=widths, depths=[3, 3, 9, 3])
    return Backbone(PoolerOutput(ConvNextModel(config)), widths[-1])


def _parse_options(text: str) -> dict[str, Any]:
    """Return ``width=32,stem=3x3`` as arguments of `ResNetShape`."""
    types: dict[str, Callable[[str], Any]] = {"width": int, "stem": str}
    options: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        if key not in types:
            raise UnknownNameError("option of a ResNet", key, types)
        try:
            options[key] = types[key](value)
        except ValueError:
            raise InvalidParameterError(
                f"{key} must be an integer, got {part!r}; write for example {key}=32."
            ) from None
    return options


def _with_measured_width(module: nn.Module, size: int = 64) -> Backbone:
    """Return `module` with the width of its output for a blank image."""
    was_training = module.training
    with torch.no_grad():
        out = module.eval()(torch.zeros(1, 3, size, size))
    module.train(was_training)
    if not isinstance(out, Tensor) or out.ndim != 2:
        found = f"shape {tuple(out.shape)}" if isinstance(out, Tensor) else type(out).__name__
        raise EncoderError(
            f"The backbone {type(module).__name__} must return a vector (1, d) for one image, "
            f"got {found}; pool and flatten its output: "
            "nn.Sequential(module, nn.AdaptiveAvgPool2d(1), nn.Flatten())."
        )
    return Backbone(module, out.shape[1])


_N_COLUMNS, _N_COLUMNS_OF_BLOCK = 512, 64  # kept of all blocks together, and at least of one
_N_ROWS = 5_000  # rows from which axes are found


class BlockScaling(nn.Module):
    """Standardise columns; mean and scale are buffers, saved with the network.

    Parameters
    ----------
    mean, scale : array of shape (n_columns,)
        As found by `likewise.estimators.data.BlockScaler`.
    """

    def __init__(self, mean: npt.NDArray[np.float32], scale: npt.NDArray[np.float32]) -> None:
        super().__init__()
        self.mean: Tensor
        self.scale: Tensor
        self.register_buffer("mean", torch.from_numpy(mean.copy()))
        self.register_buffer("scale", torch.from_numpy(scale.copy()))

    def forward(self, x: Tensor) -> Tensor:
        """Return the scaled vectors, ``(b, d)``."""
        return (x - self.mean) * self.scale


class BlockProjection(nn.Module):
    """Project every wide feature block on its principal axes; fitted once, saved with the network.

    A thousand images span far fewer directions than an encoder has columns, and a step costs
    in proportion to the columns. Axes are not rescaled.

    Parameters
    ----------
    slices : mapping of str to slice
        Columns of each feature block.
    n_columns : int

    Attributes
    ----------
    slices : dict of str to slice
        Columns of each block after the projection.
    """

    def __init__(self, slices: Mapping[str, slice], n_columns: int) -> None:
        super().__init__()
        self._before = dict(slices)
        self.slices: dict[str, slice] = narrow_slices(slices)
        self.n_out: int = max(part.stop for part in self.slices.values())
        self.axes: Tensor
        self.register_buffer("axes", torch.zeros(n_columns, self.n_out))

    def fit(self, rows: npt.NDArray[np.float32]) -> None:
        """Find the axes from at most 5,000 evenly spaced rows, which are centred."""
        sample = rows[:: -(-len(rows) // _N_ROWS)]
        for name, columns in self._before.items():
            kept = self.slices[name]
            found = _principal_axes(sample[:, columns], kept.stop - kept.start)
            self.axes[columns, kept.start : kept.start + found.shape[1]] = torch.from_numpy(found)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the projected rows, ``(b, n_out)``."""
        return rows @ self.axes


def narrow_slices(slices: Mapping[str, slice]) -> dict[str, slice]:
    """Return the columns of each block once wide ones are projected; about 512 in all."""
    most = max(_N_COLUMNS // len(slices), _N_COLUMNS_OF_BLOCK)
    found, start = {}, 0
    for name, columns in slices.items():
        stop = start + min(columns.stop - columns.start, most)
        found[name], start = slice(start, stop), stop
    return found


def _principal_axes(rows: npt.NDArray[np.float32], n: int) -> npt.NDArray[np.float32]:
    """Return up to `n` unit axes as columns, the longest first; the identity if there are fewer."""
    width = rows.shape[1]
    if width <= n:
        return np.eye(width, dtype=np.float32)
    n = min(n, len(rows))
    axes: npt.NDArray[np.float32] = randomized_svd(rows, n, n_iter=2, random_state=0)[2].T
    return np.ascontiguousarray(axes, dtype=np.float32)
