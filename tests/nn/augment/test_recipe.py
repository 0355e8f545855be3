"""The papers' recipes, number by number, and what a recipe refuses."""

from dataclasses import replace
from typing import Any

import pytest

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.nn.augmentation import AUGMENTATIONS, AugmentationConfig, make_augmentation


def test_the_papers_recipes_hold_the_papers_numbers() -> None:
    for name, recipe in AUGMENTATIONS.items():
        assert (recipe.flip, recipe.jitter_probability, recipe.grayscale) == (0.5, 0.8, 0.2), name
        assert (recipe.jitter, recipe.hue) == (0.8, 0.2), name
        assert recipe.ratio == (0.75, 4 / 3), name
    strengths = {
        name: recipe.strength for name, recipe in AUGMENTATIONS.items() if name != "gentle"
    }
    assert strengths == {
        "cc-small": 0.5,
        "cc-large": 1.0,
        "cc-imagenet": 1.0,
        "pcl": 0.5,
        "simclr-dsac": 0.5,
    }
    assert {name for name, recipe in AUGMENTATIONS.items() if recipe.blur} == {"cc-imagenet"}
    blurred = AUGMENTATIONS["cc-imagenet"]
    assert (blurred.blur, blurred.blur_kernel, blurred.blur_sigma) == (0.5, 23, (0.1, 2.0))
    assert {name for name, recipe in AUGMENTATIONS.items() if recipe.normalise} == {"pcl"}
    sizes = [AUGMENTATIONS[name].size for name in ("cc-small", "pcl", "simclr-dsac")]
    assert sizes == [224, 128, 96]
    assert AUGMENTATIONS["cc-small"].scale == (0.08, 1.0)
    assert AUGMENTATIONS["simclr-dsac"].scale == (0.2, 1.0)


def test_our_gentle_recipe_is_that_for_small_pictures_but_keeps_half_of_each() -> None:
    assert AUGMENTATIONS["gentle"] == replace(AUGMENTATIONS["cc-small"], scale=(0.5, 1.0))


def test_a_recipe_can_be_had_for_another_size() -> None:
    assert make_augmentation("pcl", size=32) == AugmentationConfig(size=32, normalise="imagenet")
    assert make_augmentation("pcl") is AUGMENTATIONS["pcl"]


def test_an_unknown_recipe_raises_an_error_with_the_nearest_name() -> None:
    with pytest.raises(
        UnknownNameError, match="'cc-smal' is not a known recipe; did you mean 'cc-"
    ):
        make_augmentation("cc-smal")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"size": 0}, "size must be at least 1, got 0"),
        ({"scale": (0.5, 0.1)}, r"scale must be two values .*, got \(0\.5, 0\.1\)"),
        ({"scale": (0.5, 1.5)}, r"scale must be .* at most 1, .*, got \(0\.5, 1\.5\)"),
        ({"ratio": (0.0, 1.0)}, r"ratio must be .*, got \(0\.0, 1\.0\)"),
        ({"blur_sigma": (0.0, 1.0)}, r"blur_sigma must be .*, got \(0\.0, 1\.0\)"),
        ({"flip": 1.5}, r"flip must be a probability between 0 and 1, got 1\.5"),
        ({"blur": -0.1}, r"blur must be a probability between 0 and 1, got -0\.1"),
        ({"strength": -1.0}, r"strength and jitter must be >= 0, .* got strength=-1\.0"),
        ({"hue": 2.0}, r"strength times hue between 0 and 0\.5, .*hue=2\.0"),
        ({"normalise": "imagnet"}, "did you mean 'imagenet'"),
        ({"blur": 0.5, "size": 11}, "got blur_kernel=23 for size=11"),
        ({"blur": 0.5, "blur_kernel": 4}, "blur_kernel must be odd .*, got blur_kernel=4"),
    ],
)
def test_invalid_values_raise_an_error(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidParameterError, match=text):
        AugmentationConfig(**wrong)


def test_a_small_view_without_blur_needs_no_kernel() -> None:
    assert AugmentationConfig(size=8).blur == 0
    assert AugmentationConfig(size=12, blur=0.5).size == 12
