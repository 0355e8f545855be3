"""Encoders that run a torch network: any ``nn.Module``, and the base of the Hugging Face ones."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from likewise.errors import EncoderError, InvalidParameterError, UnknownNameError
from likewise.images.collection import Pixels
from likewise.images.resize import resize
from likewise.types import Floats

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
Forward = Callable[[Tensor], Mapping[str, Tensor]]


class TorchEncoder:
    """Runs a network in evaluation mode, one batch at a time, and restores its mode.

    Parameters
    ----------
    name : str
    network : nn.Module
    forward : callable
        From a normalised batch ``(b, 3, s, s)`` to one tensor ``(b, d)`` per feature block.
    size : int
    mean, std : sequences of three floats
        Of the channels, for pixel values from 0 to 1.
    batch_size : int
    """

    def __init__(
        self,
        name: str,
        network: nn.Module,
        forward: Forward,
        *,
        size: int,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        batch_size: int = 16,
    ) -> None:
        if size < 1:
            raise InvalidParameterError(f"size must be an integer >= 1 (pixels), got {size}.")
        self.name = name
        self.size = size
        self._network, self._forward, self._batch_size = network, forward, batch_size
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._mean = torch.tensor(mean, device=self._device).view(3, 1, 1)
        self._std = torch.tensor(std, device=self._device).view(3, 1, 1)
        self.blocks: dict[str, int] = {}
        blank = np.full((1, size, size, 3), 127, dtype=np.uint8)
        self.blocks = {block: vectors.shape[1] for block, vectors in self._run(blank).items()}

    def prepare(self, pixels: Pixels) -> Pixels:
        """Return the resized square that `encode` uses; safe to call from several threads."""
        return resize(pixels, self.size)

    def encode(self, images: Sequence[Pixels]) -> dict[str, Floats]:
        """Return for each block an array ``(len(images), width)``."""
        parts = [{b: np.zeros((0, width), np.float32) for b, width in self.blocks.items()}]
        for start in range(0, len(images), self._batch_size):
            batch = images[start : start + self._batch_size]
            parts.append(self._run(np.stack([self.prepare(pixels) for pixels in batch])))
        return {block: np.concatenate([part[block] for part in parts]) for block in self.blocks}

    @torch.inference_mode()
    def _run(self, squares: Pixels) -> dict[str, Floats]:
        was_training = self._network.training
        self._network.to(self._device).eval()
        try:
            x = torch.from_numpy(squares).to(self._device).permute(0, 3, 1, 2).float() / 255
            outputs = self._forward((x - self._mean) / self._std)
            return {block: self._checked(block, v, len(squares)) for block, v in outputs.items()}
        finally:
            self._network.train(was_training)

    def _checked(self, block: str, vectors: object, n_images: int) -> Floats:
        if isinstance(vectors, Tensor) and vectors.ndim == 2 and len(vectors) == n_images:
            self._check_width(block, vectors.shape[1])
            checked: Floats = vectors.float().cpu().numpy()
            return checked
        raise EncoderError(
            f"The encoder {self.name!r} must return one vector per image, a tensor "
            f"({n_images}, d); got {describe_output(vectors)} for the block {block!r}. "
            "Pool and flatten the output: "
            "nn.Sequential(module, nn.AdaptiveAvgPool2d(1), nn.Flatten())."
        )

    def _check_width(self, block: str, width: int) -> None:
        if not width:
            raise EncoderError(
                f"The encoder {self.name!r} must return vectors of width >= 1, got width 0 for "
                f"the block {block!r}; use a network with at least one output."
            )
        expected = self.blocks.get(block, width)  # unknown for the first, blank image
        if width != expected:
            raise EncoderError(
                f"The encoder {self.name!r} must return vectors of constant width; the block "
                f"{block!r} has width {width}, previously {expected}. Use a network whose output "
                "width does not depend on the batch."
            )


def module_encoder(
    module: nn.Module,
    *,
    size: int = 224,
    mean: Sequence[float] = IMAGENET_MEAN,
    std: Sequence[float] = IMAGENET_STD,
    layers: Sequence[str] = (),
    name: str | None = None,
) -> TorchEncoder:
    """Return an encoder around `module`, such as a network of torchvision or timm.

    Parameters
    ----------
    module : nn.Module
        From images ``(b, 3, size, size)`` to vectors ``(b, d)``: the block ``last``.
    size : int
        Images are resized to squares of this side length.
    mean, std : sequences of three floats
        The input of the module is ``(x / 255 - mean) / std``.
    layers : sequence of str
        Names of submodules, as in ``module.named_modules()``. Each becomes a block of that
        name: mean and standard deviation of maps ``(b, c, h, w)``, or vectors ``(b, d)``.
    name : str, optional
        The cache key; by default made of the class, the size and a hash of the weights.

    Raises
    ------
    UnknownNameError
        If there is no such layer.
    InvalidParameterError
        If `size` is less than 1.
    EncoderError
        If the module does not return vectors, or a layer is never called or returns neither
        maps nor vectors.

    Examples
    --------
    >>> tiny = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    >>> dict(module_encoder(tiny, size=32, layers=["0"], name="tiny").blocks)
    {'last': 4, '0': 8}
    """
    submodules = dict(module.named_modules())
    for layer in layers:
        if layer not in submodules:
            raise UnknownNameError("layer of this module", layer, filter(None, submodules))
    chosen = {layer: submodules[layer] for layer in layers}
    if name is None:
        options = repr((list(layers), list(mean), list(std))).encode()
        digest = fingerprint([options, *_weights(module)])
        name = f"module-{type(module).__name__}-{size}-{digest}"

    def forward(x: Tensor) -> Mapping[str, Tensor]:
        return _with_layers(module, x, chosen)

    return TorchEncoder(name, module, forward, size=size, mean=mean, std=std)


def mean_and_std(maps: Tensor) -> Tensor:
    """Return mean and standard deviation over all positions, concatenated.

    Parameters
    ----------
    maps : Tensor of shape (b, c, h, w) or (b, c, positions)

    Returns
    -------
    pooled : Tensor of shape (b, 2 c)
    """
    std, mean = torch.std_mean(maps.flatten(2), dim=2, correction=0)
    return torch.cat([mean, std], dim=1)


def describe_output(value: object) -> str:
    """Return the shape of a tensor, or the type of anything else, for error messages."""
    if isinstance(value, Tensor):
        return f"shape {tuple(value.shape)}"
    return type(value).__name__


def fingerprint(chunks: Iterable[bytes]) -> str:
    """Return 12 hexadecimal digits of a SHA-256 hash; weights are part of an encoder's name."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()[:12]


def _with_layers(
    module: nn.Module, x: Tensor, layers: Mapping[str, nn.Module]
) -> dict[str, Tensor]:
    """Return the output of the module and of its `layers`, in one forward pass."""
    outputs: dict[str, Tensor] = {}

    def record(layer: str, value: object) -> None:
        outputs[layer] = _pooled(layer, value)

    handles = [
        submodule.register_forward_hook(lambda _, __, value, layer=layer: record(layer, value))
        for layer, submodule in layers.items()
    ]
    try:
        last = module(x)
    finally:
        for handle in handles:
            handle.remove()
    for layer in layers:
        if layer not in outputs:
            raise EncoderError(
                f"The layer {layer!r} is not called in the forward pass of "
                f"{type(module).__name__}; choose one that is (of a ModuleList, an element)."
            )
    return {"last": last} | {layer: outputs[layer] for layer in layers}


def _pooled(layer: str, value: object) -> Tensor:
    """Return pooled maps, or a copy of vectors, which later layers may modify in place."""
    if not isinstance(value, Tensor) or value.ndim < 2:
        raise EncoderError(
            f"The layer {layer!r} must return maps (b, c, h, w) or vectors (b, d), "
            f"got {describe_output(value)}; choose another layer."
        )
    return value.clone() if value.ndim == 2 else mean_and_std(value)


def _weights(module: nn.Module) -> Iterator[bytes]:
    for name, value in module.state_dict().items():
        yield name.encode()
        yield value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
