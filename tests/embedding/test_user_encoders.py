"""Encoders that a user brings: ONNX files, functions, modules, and names of other packages."""

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, save
from PIL import Image

from likewise import Likewise, plugins
from likewise.embedding.registry import check_encoder, make_encoder
from likewise.embedding.user_encoders import FunctionEncoder, OnnxEncoder, as_encoder
from likewise.errors import EncoderError, InvalidParameterError, PluginError, UnknownNameError

IMAGES = np.random.default_rng(0).integers(0, 255, (6, 40, 30, 3)).astype(np.uint8)


def write_onnx(
    path: Path, shape: list[int | str], *, op: str = "GlobalAveragePool", **metadata: str
) -> Path:
    """Write a network that averages each channel."""
    dims: list[int | str] = ["n", 3] if op == "Flattened" else [*shape[:2], 1, 1]
    nodes = [helper.make_node("GlobalAveragePool", ["x"], ["y"])]
    if op == "Flattened":
        nodes = [
            helper.make_node("GlobalAveragePool", ["x"], ["p"]),
            helper.make_node("Flatten", ["p"], ["y"]),
        ]
    elif op == "Identity":
        nodes, dims = [helper.make_node("Identity", ["x"], ["y"])], shape
    graph = helper.make_graph(
        nodes,
        "mean",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, dims)],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10, producer_name="test"
    )
    helper.set_model_props(model, metadata)
    save(model, str(path))
    return path


def mean_colour(images: list[Image.Image]) -> Any:
    return np.array([np.asarray(image).mean((0, 1)) for image in images])


@pytest.mark.parametrize("op", ["Flattened", "GlobalAveragePool"])
@pytest.mark.parametrize("n", ["n", 4])
def test_an_onnx_file_is_an_encoder(tmp_path: Path, op: str, n: int | str) -> None:
    plain = {"mean": "0,0,0", "std": "1,1,1", "size": "8"}
    path = write_onnx(tmp_path / "my net.onnx", [n, 3, 8, 8], op=op, **plain)
    encoder = make_encoder(str(path))
    assert encoder.name.startswith("onnx-my-net-8-")
    assert encoder.blocks == {"last": 3}
    blank = [np.full((20, 20, 3), value, np.uint8) for value in (0, 51, 255, 102, 204)]
    expected = np.outer([0, 0.2, 1, 0.4, 0.8], [1, 1, 1])
    np.testing.assert_allclose(encoder.encode(blank)["last"], expected, atol=1e-6)


def test_normalisation_is_that_of_imagenet_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    encoder = OnnxEncoder(write_onnx(tmp_path / "a.onnx", ["n", 3, "h", "w"], op="Flattened"))
    assert encoder.size == 224
    grey = np.full((1, 9, 9, 3), 127, np.uint8)
    found = encoder.encode(list(grey))["last"][0]
    np.testing.assert_allclose(found, [0.0566, 0.1880, 0.4090], atol=1e-3)


def test_the_name_changes_with_the_content(tmp_path: Path) -> None:
    one = OnnxEncoder(write_onnx(tmp_path / "a.onnx", ["n", 3, 8, 8]))
    other = OnnxEncoder(write_onnx(tmp_path / "a.onnx", ["n", 3, 8, 8], mean="0,0,0"))
    assert one.name != other.name


@pytest.mark.parametrize(
    ("shape", "op", "metadata", "message"),
    [
        (["n", 4, 8, 8], "Flattened", {}, r"one input of images.*got x: tensor\(float\)"),
        (["n", 3], "Identity", {}, "one input of images"),
        (["n", 3, 8, 8], "Identity", {}, r"one vector per image.*pool and flatten"),
        (["n", 3, 8, 8], "Flattened", {"mean": "0,0"}, "three numbers separated by commas"),
        (["n", 3, 8, 8], "Flattened", {"size": "9"}, "cannot be run on images of 9 pixels"),
    ],
)
def test_a_network_that_is_not_an_encoder_is_refused(
    tmp_path: Path, shape: list[int | str], op: str, metadata: dict[str, str], message: str
) -> None:
    path = write_onnx(tmp_path / "a.onnx", shape, op=op, **metadata)
    with pytest.raises(EncoderError, match=message):
        OnnxEncoder(path)


def test_a_file_that_is_missing_damaged_or_named_in_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="There is no file"):
        check_encoder(str(tmp_path / "a.onnx"))
    (tmp_path / "a.onnx").write_bytes(b"not a network")
    with pytest.raises(EncoderError, match="not a network that ONNX Runtime can run"):
        make_encoder(str(tmp_path / "a.onnx"))
    with pytest.raises(EncoderError, match="not loaded unless you name it yourself"):
        make_encoder(str(tmp_path / "a.onnx"), allow_download=False)


def test_a_function_is_an_encoder() -> None:
    encoder = as_encoder(mean_colour)
    assert (encoder.name, encoder.blocks) == ("mean_colour", {"last": 3})
    np.testing.assert_allclose(encoder.encode(list(IMAGES))["last"], IMAGES.mean((1, 2)), rtol=1e-5)
    model = Likewise(2, encoder=mean_colour, random_state=0).fit(IMAGES)
    assert model.predict(IMAGES[:1]) == model.labels_[0]


def test_a_module_is_an_encoder() -> None:
    nn = pytest.importorskip("torch", reason="torch is not installed").nn
    module = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    assert as_encoder(module).blocks == {"last": 3}
    assert Likewise(2, encoder=module, random_state=0).fit(IMAGES).labels_.shape == (6,)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda images: np.zeros((len(images), 2, 2)), r"array \(1, d\), got shape \(1, 2, 2\)"),
        (lambda images: np.zeros((3, 4)), r"got shape \(3, 4\)"),
        (lambda images: [image.undefined for image in images], "failed for a list of 1 PIL images"),
        (lambda images: [["text"]], "failed for a list"),
    ],
)
def test_a_function_without_one_vector_per_image_is_refused(function: Any, message: str) -> None:
    with pytest.raises(EncoderError, match=message):
        FunctionEncoder(function, "mine")


@pytest.mark.parametrize("given", [3, FunctionEncoder, None])
def test_anything_else_is_refused(given: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"encoder must be a name, a path to an \.onnx"):
        as_encoder(given)


def test_other_packages_add_encoders(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = EntryPoint("mine", f"{__name__}:make_mine", plugins.ENCODERS)
    broken = EntryPoint("broken", "no.such.module:x", plugins.ENCODERS)
    monkeypatch.setattr(plugins, "_found", lambda group: {"mine": mine, "broken": broken})
    monkeypatch.setattr(EntryPoint, "load", load)
    assert make_encoder("mine").blocks == {"last": 3}
    check_encoder("mine")
    with pytest.raises(PluginError, match=r"'broken' \(likewise.encoders\).* cannot be loaded"):
        make_encoder("broken")
    with pytest.raises(UnknownNameError, match="'mime' is not a known encoder"):
        make_encoder("mime")


def load(entry_point: EntryPoint) -> Any:
    """Load this module as pytest has imported it."""
    if entry_point.name == "broken":
        raise ModuleNotFoundError("No module named 'no'")
    return lambda: mean_colour
