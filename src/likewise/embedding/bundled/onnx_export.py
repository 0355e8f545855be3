"""Write the bundled network as an ONNX model, without the `onnx` package.

The format is protobuf [ONNX]_: every field is a key ``number << 3 | kind`` followed by
a varint (kind 0), four bytes (kind 5) or a length and that many bytes (kind 2).
"""

import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from likewise.embedding.bundled.network import (
    PIXEL_MEAN,
    PIXEL_SCALE,
    Block,
    Conv,
    EfficientNetLite,
)

_IR_VERSION, _OPSET = 8, 17
_DTYPES = {"float32": 1, "uint8": 2, "int64": 7}
Attribute = int | float | str | Sequence[int]


def to_onnx(network: EfficientNetLite, whole_maps: Sequence[int]) -> bytes:
    """Return a model from ``pixels`` (b, s, s, 3) uint8 to pooled maps.

    The outputs are the maps of the stages `whole_maps`, (b, width, h, w); then, each
    (b, width, 1, 1), the mean of the last map, and for each stage in order the mean of x and
    the mean of x².
    """
    model = OnnxModel()
    x, maps = _convolution(model, _scaled_pixels(model), network.stem), []
    for blocks in network.stages:
        for block in blocks:
            x = _block(model, x, block)
        maps.append(x)
    for stage in whole_maps:
        model.output(model.node("Identity", maps[stage]), rank=4)
    last = _convolution(model, x, network.head)
    model.output(model.node("GlobalAveragePool", last), rank=4)
    for value in maps:
        model.output(model.node("GlobalAveragePool", value), rank=4)
        square = model.node("Mul", value, value)
        model.output(model.node("GlobalAveragePool", square), rank=4)
    return model.to_bytes()


def _scaled_pixels(model: "OnnxModel") -> str:
    pixels = model.input("pixels", "uint8", ["b", "h", "w", 3])
    x = model.node("Sub", model.node("Cast", pixels, to=1), model.weight(PIXEL_MEAN))
    return model.node(
        "Transpose", model.node("Div", x, model.weight(PIXEL_SCALE)), perm=[0, 3, 1, 2]
    )


def _block(model: "OnnxModel", x: str, block: Block) -> str:
    y = x
    for layer in block.layers:
        y = _convolution(model, y, layer)
    return model.node("Add", x, y) if block.is_residual else y


def _convolution(model: "OnnxModel", x: str, layer: Conv) -> str:
    y = model.node(
        "Conv",
        x,
        model.weight(layer.weight),
        model.weight(layer.bias),
        auto_pad="SAME_UPPER",  # TensorFlow's padding
        kernel_shape=list(layer.weight.shape[2:]),
        strides=[layer.stride] * 2,
        group=layer.groups,
    )
    return model.node("Clip", y, model.weight(0.0), model.weight(6.0)) if layer.is_clipped else y


class OnnxModel:
    """A graph under construction; values have names, nodes are in the order of computation."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._weights: list[bytes] = []
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []

    def input(self, name: str, dtype: str, shape: Sequence[int | str]) -> str:
        """Declare an input; a dimension given as a string may have any size."""
        self._inputs.append(_value(name, dtype, shape))
        return name

    def weight(self, value: npt.ArrayLike, dtype: str = "float32") -> str:
        """Add a constant and return its name."""
        array = np.asarray(value, dtype=dtype)
        name = f"w{len(self._weights)}"
        dims = b"".join(_integer(1, n) for n in array.shape)
        kind = _integer(2, _DTYPES[dtype])
        self._weights.append(dims + kind + _text(8, name) + _bytes(9, array.tobytes()))
        return name

    def node(self, operation: str, *inputs: str, **attributes: Attribute) -> str:
        """Add an operation with one result and return the name of the result."""
        name = f"v{len(self._nodes)}"
        message = b"".join(_text(1, i) for i in inputs) + _text(2, name) + _text(4, operation)
        for key, value in attributes.items():
            message += _bytes(5, _attribute(key, value))
        self._nodes.append(message)
        return name

    def output(self, value: str, rank: int) -> str:
        """Declare a float output of `rank` dimensions of any size."""
        self._outputs.append(_value(value, "float32", [f"d{i}" for i in range(rank)]))
        return value

    def to_bytes(self) -> bytes:
        """Return the serialized model."""
        graph = b"".join(_bytes(1, node) for node in self._nodes) + _text(2, "likewise")
        graph += b"".join(_bytes(5, weight) for weight in self._weights)
        graph += b"".join(_bytes(11, value) for value in self._inputs)
        graph += b"".join(_bytes(12, value) for value in self._outputs)
        opset = _text(1, "") + _integer(2, _OPSET)
        return _integer(1, _IR_VERSION) + _bytes(7, graph) + _bytes(8, opset)


def _varint(number: int) -> bytes:
    if number < 0:
        number += 1 << 64  # two's complement, as in protobuf
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def _integer(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())


def _attribute(name: str, value: Attribute) -> bytes:
    message = _text(1, name)
    if isinstance(value, float):
        return message + _varint(2 << 3 | 5) + struct.pack("<f", value) + _integer(20, 1)
    if isinstance(value, int):
        return message + _integer(3, value) + _integer(20, 2)
    if isinstance(value, str):
        return message + _text(4, value) + _integer(20, 3)
    return message + b"".join(_integer(8, number) for number in value) + _integer(20, 7)


def _value(name: str, dtype: str, shape: Sequence[int | str]) -> bytes:
    dims = (_text(2, n) if isinstance(n, str) else _integer(1, n) for n in shape)
    tensor = _integer(1, _DTYPES[dtype]) + _bytes(2, b"".join(_bytes(1, dim) for dim in dims))
    return _text(1, name) + _bytes(2, _bytes(1, tensor))
