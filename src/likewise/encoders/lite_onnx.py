"""The bundled network with its pooling as an ONNX model, batch normalisation folded in."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from likewise.encoders.efficientnet_lite import CENTRE, SCALE, Block, ConvBN, EfficientNetLite
from likewise.encoders.onnx_file import OnnxFile


def to_onnx(network: EfficientNetLite, stages: Mapping[str, int], whole: Sequence[int]) -> bytes:
    """Return a model from ``pixels`` (b, s, s, 3) uint8 to pooled maps.

    The results are the maps of the stages `whole`, (b, width, h, w); then, each
    (b, width, 1, 1), the mean of the last map, and for each stage in order the
    mean of x and the mean of x².
    """
    file = OnnxFile()
    x, maps = _convolution(file, _scaled(file), network.stem), []
    for blocks in network.stages:
        for block in blocks.children():
            assert isinstance(block, Block)  # a stage holds nothing else
            x = _block(file, x, block)
        maps.append(x)
    for stage in whole:
        file.output(file.node("Identity", maps[stage]), rank=4)
    file.output(file.node("GlobalAveragePool", _convolution(file, x, network.head)), rank=4)
    for position in stages.values():
        value = maps[position]
        file.output(file.node("GlobalAveragePool", value), rank=4)
        squared = file.node("Mul", value, value)
        file.output(file.node("GlobalAveragePool", squared), rank=4)
    return file.to_bytes()


def _scaled(file: OnnxFile) -> str:
    pixels = file.input("pixels", "uint8", ["b", "h", "w", 3])
    x = file.node("Sub", file.node("Cast", pixels, to=1), file.weight(CENTRE))
    return file.node("Transpose", file.node("Div", x, file.weight(SCALE)), perm=[0, 3, 1, 2])


def _block(file: OnnxFile, x: str, block: Block) -> str:
    y = x
    for layer in block.layers:
        assert isinstance(layer, ConvBN)  # a block holds nothing else
        y = _convolution(file, y, layer)
    return file.node("Add", x, y) if block.is_residual else y


def _convolution(file: OnnxFile, x: str, layer: ConvBN) -> str:
    weight, bias = fold(layer)
    y = file.node(
        "Conv",
        x,
        file.weight(weight.numpy()),
        file.weight(bias.numpy()),
        auto_pad="SAME_UPPER",  # TensorFlow's padding
        kernel_shape=[layer.step.kernel] * 2,
        strides=[layer.step.stride] * 2,
        group=layer.step.groups,
    )
    return file.node("Clip", y, file.weight(0.0), file.weight(6.0)) if layer.step.is_clipped else y


@torch.no_grad()
def fold(layer: ConvBN) -> tuple[Tensor, Tensor]:
    """Return weight and bias of the one convolution that equals convolution and normalisation."""
    norm = layer.norm
    assert norm.running_mean is not None  # statistics are tracked: ConvBN asks for it
    assert norm.running_var is not None
    factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return layer.conv.weight * factor[:, None, None, None], norm.bias - norm.running_mean * factor
