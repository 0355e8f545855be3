"""The ONNX models that are written by hand, as ONNX Runtime reads them."""

import numpy as np
import pytest
import torch

from likewise.embedding.bundled.onnx_export import OnnxModel, _varint
from likewise.nn.training import generator

onnxruntime = pytest.importorskip("onnxruntime")


def run(model: OnnxModel, **inputs: object) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(model.to_bytes(), providers=["CPUExecutionProvider"])
    results: list[np.ndarray] = session.run(None, inputs)
    return results


@pytest.mark.parametrize(
    ("number", "content"),
    [
        (0, b"\x00"),
        (127, b"\x7f"),
        (128, b"\x80\x01"),
        (300, b"\xac\x02"),
        (-1, b"\xff" * 9 + b"\x01"),
    ],
)
def test_varints_have_seven_bits_per_byte(number: int, content: bytes) -> None:
    assert _varint(number) == content


def test_attributes_of_every_type_are_read() -> None:
    model = OnnxModel()
    x = model.input("x", "uint8", ["b", "h", "w", 1])
    x = model.node("Transpose", model.node("Cast", x, to=1), perm=[0, 3, 1, 2])
    x = model.node("LeakyRelu", model.node("Sub", x, model.weight(4.0)), alpha=0.5)
    weight = torch.randn(2, 1, 3, 3, generator=generator(0, "w"))
    y = model.node(
        "Conv",
        x,
        model.weight(weight.numpy()),
        model.weight([1.0, -1.0]),
        auto_pad="SAME_UPPER",
        kernel_shape=[3, 3],
        strides=[2, 2],
    )
    model.output(y, rank=4)
    pixels = np.arange(2 * 6 * 4, dtype=np.uint8).reshape(2, 6, 4, 1)
    (found,) = run(model, x=pixels)

    values = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() - 4
    values = torch.nn.functional.leaky_relu(values, 0.5)
    values = torch.nn.functional.pad(values, (0, 1, 0, 1))  # the odd row is below and right
    expected = torch.nn.functional.conv2d(values, weight, torch.tensor([1.0, -1.0]), stride=2)
    torch.testing.assert_close(torch.from_numpy(found), expected)


def test_a_negative_axis_and_several_outputs_are_read() -> None:
    model = OnnxModel()
    x = model.input("x", "float32", ["b", "d"])
    model.output(model.node("Softmax", x, axis=-1), rank=2)
    model.output(model.node("Add", x, model.weight([[1.0, 2.0]])), rank=2)
    softmax, moved = run(model, x=np.zeros((3, 2), np.float32))
    np.testing.assert_allclose(softmax, 0.5)
    np.testing.assert_array_equal(moved, [[1, 2]] * 3)
