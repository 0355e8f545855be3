"""The fast way and the plain way give the same vectors, image by image."""

import importlib.util
from collections.abc import Callable

import numpy as np
import pytest
import torch

from likewise.embedding.bundled.inference import Runner, make_runner, onnx_runner, torch_runner
from likewise.embedding.bundled.network import EfficientNetLite, load_network
from likewise.images.collection import Pixels
from likewise.images.resize import resize

STAGES = {"stage1": 1, "stage6": 6, "stage3": 3}


@pytest.fixture(scope="module")
def network() -> EfficientNetLite:
    return load_network("lite0")


@pytest.fixture
def squares(pictures: list[Pixels]) -> Pixels:
    return np.stack([resize(picture, 70) for picture in pictures])  # odd sides on the way down


def test_the_plain_way_is_mean_and_spread_of_scaled_pixels(
    network: EfficientNetLite, squares: Pixels
) -> None:
    found = torch_runner(network, STAGES)(squares)
    for i, square in enumerate(squares):
        x = torch.tensor((square.astype(np.float32) - 127) / 128).permute(2, 0, 1)[None]
        maps = network(x)
        for facet, stage in STAGES.items():
            places = maps[stage][0].flatten(1).numpy()  # (c, places)
            expected = np.concatenate([places.mean(1), places.std(1)])
            np.testing.assert_allclose(found[facet][i], expected, rtol=1e-4, atol=1e-4)
        last = maps[-1][0].flatten(1).numpy().mean(1)
        np.testing.assert_allclose(found["last"][i], last, rtol=1e-4, atol=1e-4)


def test_the_fast_way_agrees_with_the_plain_way(network: EfficientNetLite, squares: Pixels) -> None:
    pytest.importorskip("onnxruntime")
    fast, plain = onnx_runner(network, STAGES)(squares), torch_runner(network, STAGES)(squares)
    assert fast.keys() == plain.keys()
    for facet, vectors in plain.items():
        np.testing.assert_allclose(fast[facet], vectors, rtol=1e-3, atol=1e-3)
        assert fast[facet].dtype == np.float32


def test_a_picture_gets_the_same_vector_in_any_company(
    network: EfficientNetLite, squares: Pixels
) -> None:
    pytest.importorskip("onnxruntime")
    run = onnx_runner(network, STAGES)
    together = run(np.concatenate([squares] * 3))
    for i in range(len(squares)):
        alone = run(squares[i : i + 1])
        for facet, vectors in together.items():
            np.testing.assert_array_equal(vectors[i], alone[facet][0])


def name_of(runner: Callable[[Pixels], object]) -> str:
    return runner.__qualname__.partition(".")[0]


def test_without_the_fast_runtime_torch_does_it(
    network: EfficientNetLite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    found = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> object:
        return None if name == "onnxruntime" else found(name, package)

    if found("onnxruntime"):
        chosen: Runner = make_runner(network, STAGES)
        assert name_of(chosen) == "onnx_runner"
    monkeypatch.setattr(importlib.util, "find_spec", without)
    assert name_of(make_runner(network, STAGES)) == "torch_runner"
