"""Colour changes against kornia and the standard library, and that pictures are drawn for alone."""

import colorsys
import math
from dataclasses import replace
from itertools import permutations

import pytest
import torch
from kornia.enhance import (
    adjust_contrast_with_mean_subtraction,
    adjust_hue,
    adjust_saturation_with_gray_subtraction,
)
from torch import Tensor

from likewise.nn.augmentation import AugmentationConfig
from likewise.nn.image_views import grey, jitter, shift_hue

RECIPE = AugmentationConfig(size=8, strength=1.0, jitter_probability=1.0)


@pytest.fixture
def images(rng: torch.Generator) -> Tensor:
    return torch.rand(40, 3, 6, 6, generator=rng)


def test_hue_agrees_with_the_standard_library_pixel_by_pixel(rng: torch.Generator) -> None:
    images = torch.rand(3, 3, 2, 4, generator=rng, dtype=torch.float64)
    turns = torch.tensor([0.1, -0.37, 0.5], dtype=torch.float64)
    images[0, :, 0, 0] = torch.tensor([0.5, 0.5, 0.5])  # grey has no hue
    images[0, :, 0, 1] = torch.tensor([1.0, 1.0, 0.0])  # two channels share the maximum
    images[0, :, 0, 2] = 0
    turned = shift_hue(images, turns)
    for n in range(3):
        for y in range(2):
            for x in range(4):
                h, s, v = colorsys.rgb_to_hsv(*images[n, :, y, x].tolist())
                expected = colorsys.hsv_to_rgb((h + float(turns[n])) % 1.0, s, v)
                assert turned[n, :, y, x].tolist() == pytest.approx(expected, abs=1e-10)


def test_hue_agrees_with_kornia(images: Tensor, rng: torch.Generator) -> None:
    turns = torch.rand(40, generator=rng) - 0.5
    expected = adjust_hue(images, 2 * math.pi * turns)
    torch.testing.assert_close(shift_hue(images, turns), expected, rtol=0, atol=1e-4)


def test_no_strength_changes_nothing_and_values_stay_pixels(
    images: Tensor, rng: torch.Generator
) -> None:
    before = images.clone()
    unchanged = jitter(images, replace(RECIPE, strength=0.0), rng)
    torch.testing.assert_close(unchanged, images, rtol=0, atol=1e-6)
    strong = jitter(images, RECIPE, rng)
    assert strong.min() >= 0
    assert strong.max() <= 1
    assert torch.equal(images, before)  # what is given is left alone


def test_the_probability_is_that_of_each_picture(rng: torch.Generator) -> None:
    images = torch.rand(500, 3, 2, 2, generator=rng)
    changed = jitter(images, replace(RECIPE, jitter_probability=0.8), rng)
    share = ((changed - images).abs().amax((1, 2, 3)) > 1e-6).float().mean().item()
    assert share == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("part", ["jitter", "hue"])
def test_each_range_moves_what_it_should_and_nothing_else(part: str, rng: torch.Generator) -> None:
    images = 0.3 + 0.4 * torch.rand(200, 3, 2, 2, generator=rng)
    ranges = {"jitter": 0.0, "hue": 0.0} | {part: 0.2}
    recipe = replace(RECIPE, jitter=ranges["jitter"], hue=ranges["hue"])
    changed = jitter(images, recipe, rng)
    assert (changed - images).abs().amax((1, 2, 3)).min() > 1e-6
    # A turn of the hue keeps the brightest and the darkest channel; the others do not.
    same_value = torch.allclose(changed.amax(1), images.amax(1), atol=1e-5)
    assert same_value is (part == "hue")


def test_brightness_multiplies_by_a_factor_within_its_range(rng: torch.Generator) -> None:
    """On one grey pixel contrast, saturation and hue change nothing."""
    images = torch.full((2000, 3, 1, 1), 0.4)
    factors = jitter(images, replace(RECIPE, strength=0.5), rng)[:, 0, 0, 0] / 0.4
    assert factors.min().item() == pytest.approx(0.6, abs=0.01)
    assert factors.max().item() == pytest.approx(1.4, abs=0.01)
    assert factors.mean().item() == pytest.approx(1.0, abs=0.02)


def naive_changes(image: Tensor, amounts: list[float], order: tuple[int, ...]) -> Tensor:
    """Change one picture by kornia, one change at a time; slow on purpose."""
    for number in order:
        if number == 0:
            image = (image * amounts[0]).clamp(0, 1)
        elif number == 1:
            image = adjust_contrast_with_mean_subtraction(image, amounts[1])
        elif number == 2:
            image = adjust_saturation_with_gray_subtraction(image, amounts[2])
        else:
            image = adjust_hue(image, 2 * math.pi * amounts[3])
    return image


def test_every_picture_is_changed_by_its_own_amounts_in_its_own_order(rng: torch.Generator) -> None:
    images = torch.rand(60, 3, 3, 3, generator=rng)
    changed = jitter(images, RECIPE, torch.Generator().manual_seed(5))
    draws = torch.rand(60, 4, generator=torch.Generator().manual_seed(5))
    amounts = torch.tensor([0.2, 0.2, 0.2, -0.2]) + torch.tensor([1.6, 1.6, 1.6, 0.4]) * draws
    orders = []
    for image, own, ours in zip(images, amounts.tolist(), changed, strict=True):
        misses = {
            order: float((naive_changes(image, own, order) - ours).abs().max())
            for order in permutations(range(4))
        }
        nearest = min(misses, key=lambda order: misses[order])
        assert misses[nearest] < 1e-4
        orders.append(nearest)
    assert len(set(orders)) > 12  # of 24


def test_a_single_image_is_changed_too() -> None:
    """On one grey pixel only the brightness can be seen."""
    changed = jitter(torch.full((1, 3, 1, 1), 0.4), RECIPE, torch.Generator().manual_seed(5))
    factor = 0.2 + 1.6 * torch.rand(1, 4, generator=torch.Generator().manual_seed(5))[0, 0].item()
    assert changed.flatten().tolist() == pytest.approx([min(1, 0.4 * factor)] * 3)


def test_grey_views_have_three_equal_channels_as_often_as_said(rng: torch.Generator) -> None:
    images = torch.rand(1000, 3, 2, 2, generator=rng)
    views = grey(images, 0.2, rng)
    is_grey = (views.amax(1) - views.amin(1)).amax((1, 2)) < 1e-6
    assert is_grey.float().mean().item() == pytest.approx(0.2, abs=0.04)
    assert torch.equal(views[~is_grey], images[~is_grey])
    luma = 0.299 * images[:, 0] + 0.587 * images[:, 1] + 0.114 * images[:, 2]
    torch.testing.assert_close(views[is_grey][:, 0], luma[is_grey])
