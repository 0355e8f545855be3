"""Any ``nn.Module`` as an encoder: one's own network, or one of torchvision or timm."""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn

from likewise.encoders.pooling import mean_and_spread
from likewise.encoders.torch_encoder import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    TorchEncoder,
    fingerprint,
    shape_or_kind,
)
from likewise.errors import EncoderError, UnknownNameError


def module_encoder(
    module: nn.Module,
    *,
    size: int = 224,
    mean: Sequence[float] = IMAGENET_MEAN,
    std: Sequence[float] = IMAGENET_STD,
    layers: Sequence[str] = (),
    name: str | None = None,
) -> TorchEncoder:
    """Return an encoder around `module`.

    Parameters
    ----------
    module : nn.Module
        Pictures ``(b, 3, size, size)`` in, vectors ``(b, d)`` out: the facet ``last``.
    size : int
        Pictures are resized to squares of this side.
    mean, std : sequences of three floats
        The module sees ``(x / 255 - mean) / std``.
    layers : sequence of str
        Names of submodules, as in ``module.named_modules()``. Each becomes a facet of that
        name: mean and spread of maps ``(b, c, h, w)``, or vectors ``(b, d)`` as they are.
    name : str, optional
        The key of its vectors on disk; by default it is made of the class, the size and
        a hash of the weights.

    Raises
    ------
    UnknownNameError
        If there is no such layer.
    InvalidParameterError
        If `size` is less than 1.
    EncoderError
        If the module gives no vectors, or a layer is not used or gives neither maps nor vectors.

    Examples
    --------
    >>> tiny = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    >>> dict(module_encoder(tiny, size=32, layers=["0"], name="tiny").facets)
    {'last': 4, '0': 8}
    """
    inner = dict(module.named_modules())
    for layer in layers:
        if layer not in inner:
            raise UnknownNameError("layer of this module", layer, filter(None, inner))
    chosen = {layer: inner[layer] for layer in layers}
    if name is None:
        facts = repr((list(layers), list(mean), list(std))).encode()
        digest = fingerprint([facts, *_weights(module)])
        name = f"module-{type(module).__name__}-{size}-{digest}"

    def forward(x: Tensor) -> Mapping[str, Tensor]:
        return _with_layers(module, x, chosen)

    return TorchEncoder(name, module, forward, size=size, mean=mean, std=std)


def _with_layers(
    module: nn.Module, x: Tensor, layers: Mapping[str, nn.Module]
) -> dict[str, Tensor]:
    """Return what the module gives and what passes its `layers`, in one pass."""
    seen: dict[str, Tensor] = {}

    def note(layer: str, value: object) -> None:
        seen[layer] = _pooled(layer, value)

    handles = [
        inner.register_forward_hook(lambda _, __, value, layer=layer: note(layer, value))
        for layer, inner in layers.items()
    ]
    try:
        last = module(x)
    finally:
        for handle in handles:
            handle.remove()
    for layer in layers:
        if layer not in seen:
            raise EncoderError(
                f"The layer {layer!r} is never called when {type(module).__name__} looks at "
                "pictures; choose one that is (of a ModuleList, one of its parts)."
            )
    return {"last": last} | {layer: seen[layer] for layer in layers}


def _pooled(layer: str, value: object) -> Tensor:
    """Return maps as mean and spread; vectors as they are now, whatever is done to them later."""
    if not isinstance(value, Tensor) or value.ndim < 2:
        raise EncoderError(
            f"The layer {layer!r} gives {shape_or_kind(value)}, neither maps (b, c, h, w) nor "
            "vectors (b, d); choose another layer."
        )
    return value.clone() if value.ndim == 2 else mean_and_spread(value)


def _weights(module: nn.Module) -> Iterator[bytes]:
    for name, value in module.state_dict().items():
        yield name.encode()
        yield value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
