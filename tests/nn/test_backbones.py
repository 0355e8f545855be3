"""Trainable backbones: published sizes, small ones, and modules of the user."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from likewise.errors import EncoderError, InvalidParameterError, UnknownNameError
from likewise.nn.backbones import BACKBONES, Backbone, make_backbone
from likewise.nn.training import borrowed_global_generator


def made(backbone: str | nn.Module) -> Backbone:
    with borrowed_global_generator(0, "backbone"):
        return make_backbone(backbone)


@pytest.mark.parametrize(
    ("name", "n_parameters", "n_features"),
    [
        ("resnet18", 11_176_512, 512),
        ("resnet34", 21_284_672, 512),
        ("resnet50", 23_508_032, 2048),
        ("convnext-tiny", 27_820_128, 768),
    ],
)
def test_the_number_of_parameters_is_the_published_one_without_classifier(
    name: str, n_parameters: int, n_features: int
) -> None:
    backbone = made(name)
    assert sum(p.numel() for p in backbone.parameters()) == n_parameters
    assert backbone.n_features == n_features


def test_every_backbone_is_tested_above() -> None:
    assert set(BACKBONES) == {"resnet18", "resnet34", "resnet50", "convnext-tiny"}


@pytest.mark.parametrize(
    "name", ["resnet18:width=8", "resnet50:width=4,stem=3x3", "resnet34:stem=3x3/2,width=4"]
)
def test_returns_one_vector_per_image_and_has_gradients(name: str) -> None:
    backbone = made(name)
    features = backbone(torch.ones(2, 3, 32, 32))
    assert features.shape == (2, backbone.n_features)
    features.sum().backward()
    assert all(p.grad is not None for p in backbone.parameters())


@pytest.mark.parametrize(("stem", "side"), [("7x7", 16), ("3x3/2", 32), ("3x3", 64)])
def test_the_stem_sets_the_resolution(stem: str, side: int) -> None:
    sides: list[int] = []
    backbone = made(f"resnet18:width=4,stem={stem}")
    model: Any = backbone.network.model
    model.embedder.register_forward_hook(lambda _, __, out: sides.append(out.shape[-1]))
    backbone.eval()(torch.zeros(1, 3, 64, 64))
    assert sides == [side]


def test_width_scales_every_stage() -> None:
    model: Any = made("resnet18:width=16").network.model
    widths = [stage.layers[0].layer[0].convolution.out_channels for stage in model.encoder.stages]
    assert widths == [16, 32, 64, 128]


@pytest.mark.parametrize("stem", ["7x7", "3x3"])
def test_convolutions_have_the_initialisation_of_he(stem: str) -> None:
    """Normal with variance 2 / (output channels x kernel size)."""
    model: Any = made(f"resnet18:stem={stem}").network.model
    first = model.embedder.embedder.convolution
    deep = model.encoder.stages[3].layers[1].layer[1].convolution
    for conv in (first, deep):
        expected = math.sqrt(2 / (conv.out_channels * conv.kernel_size[0] ** 2))
        assert conv.weight.std().item() == pytest.approx(expected, rel=0.05)
        assert conv.weight.mean().item() == pytest.approx(0, abs=0.1 * expected)


def test_the_same_seed_gives_the_same_weights() -> None:
    first, second = made("resnet18:width=4,stem=3x3"), made("resnet18:width=4,stem=3x3")
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)


def test_the_width_of_a_module_is_measured_without_changing_its_mode() -> None:
    own = nn.Sequential(
        nn.Conv2d(3, 7, 3), nn.BatchNorm2d(7), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    )
    backbone = make_backbone(own)
    assert backbone.n_features == 7
    assert own.training
    assert own[1].num_batches_tracked == 0
    again = make_backbone(backbone)
    assert again is not backbone  # a copy is trained
    assert again.n_features == 7
    assert backbone(torch.zeros(2, 3, 9, 9)).shape == (2, 7)


class NoTensor(nn.Module):
    """Returns a tuple."""

    def forward(self, x: Tensor) -> tuple[Tensor]:
        return (x,)


@pytest.mark.parametrize(
    ("module", "what"), [(nn.Conv2d(3, 2, 1), r"shape \(1, 2, 64, 64\)"), (NoTensor(), "tuple")]
)
def test_a_module_that_does_not_return_vectors_is_rejected(module: nn.Module, what: str) -> None:
    with pytest.raises(
        EncoderError,
        match=rf"must return a vector \(1, d\) for one image, got {what}; .*nn\.Flatten",
    ):
        make_backbone(module)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("resnet43", UnknownNameError, "did you mean 'resnet34'"),
        ("resnet18:widht=3", UnknownNameError, "did you mean 'width'"),
        (
            "resnet18:width=much",
            InvalidParameterError,
            "width must be an integer, got 'width=much'",
        ),
        (
            "resnet18:width=0",
            InvalidParameterError,
            r"width must be an integer >= 1 \(channels\), got 0\.",
        ),
        ("resnet18:stem=5x5", UnknownNameError, "'5x5' is not a known stem"),
        ("convnext-tiny:width=8", InvalidParameterError, "convnext-tiny has no options"),
    ],
)
def test_an_invalid_name_or_option_is_rejected(
    name: str, error: type[InvalidParameterError], message: str
) -> None:
    with pytest.raises(error, match=message):
        make_backbone(name)
