"""The ONNX models we write, as a runtime reads them."""

import numpy as np
import pytest
import torch

from likewise.encoders.onnx_file import OnnxFile, _varint
from likewise.nn.training import generator

onnxruntime = pytest.importorskip("onnxruntime")


def run(file: OnnxFile, **inputs: object) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(file.to_bytes(), providers=["CPUExecutionProvider"])
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
def test_numbers_are_written_seven_bits_at_a_time(number: int, content: bytes) -> None:
    assert _varint(number) == content


def test_integers_words_floats_and_lists_arrive() -> None:
    file = OnnxFile()
    x = file.input("x", "uint8", ["b", "h", "w", 1])
    x = file.node("Transpose", file.node("Cast", x, to=1), perm=[0, 3, 1, 2])
    x = file.node("LeakyRelu", file.node("Sub", x, file.weight(4.0)), alpha=0.5)
    weight = torch.randn(2, 1, 3, 3, generator=generator(0, "w"))
    y = file.node(
        "Conv",
        x,
        file.weight(weight.numpy()),
        file.weight([1.0, -1.0]),
        auto_pad="SAME_UPPER",
        kernel_shape=[3, 3],
        strides=[2, 2],
    )
    file.output(y, rank=4)
    pixels = np.arange(2 * 6 * 4, dtype=np.uint8).reshape(2, 6, 4, 1)
    (found,) = run(file, x=pixels)

    seen = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() - 4
    seen = torch.nn.functional.leaky_relu(seen, 0.5)
    seen = torch.nn.functional.pad(seen, (0, 1, 0, 1))  # the odd row goes below and right
    expected = torch.nn.functional.conv2d(seen, weight, torch.tensor([1.0, -1.0]), stride=2)
    torch.testing.assert_close(torch.from_numpy(found), expected)


def test_a_negative_axis_and_several_outputs_arrive() -> None:
    file = OnnxFile()
    x = file.input("x", "float32", ["b", "d"])
    file.output(file.node("Softmax", x, axis=-1), rank=2)
    file.output(file.node("Add", x, file.weight([[1.0, 2.0]])), rank=2)
    softmax, moved = run(file, x=np.zeros((3, 2), np.float32))
    np.testing.assert_allclose(softmax, 0.5)
    np.testing.assert_array_equal(moved, [[1, 2]] * 3)
