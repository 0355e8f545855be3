"""Blur against kornia's convolution."""

import pytest
import torch
from kornia.filters import gaussian_blur2d

from likewise.nn.augmentation import AugmentationConfig
from likewise.nn.image_views import blur, random_blur


@pytest.mark.parametrize(("height", "width"), [(12, 12), (32, 20)])
def test_agrees_with_a_convolution_over_reflected_borders(
    height: int, width: int, rng: torch.Generator
) -> None:
    images = torch.rand(5, 3, height, width, generator=rng, dtype=torch.float64)
    sigma = torch.tensor([0.1, 0.5, 1.0, 1.7, 2.0], dtype=torch.float64)
    expected = gaussian_blur2d(images, 23, sigma[:, None].expand(-1, 2))
    torch.testing.assert_close(blur(images, sigma, 23), expected, rtol=0, atol=1e-10)


def test_a_flat_picture_stays_flat() -> None:
    images = torch.full((2, 3, 16, 16), 0.3)
    torch.testing.assert_close(blur(images, torch.tensor([0.1, 2.0]), 23), images)


def test_the_given_fraction_of_images_is_blurred_each_by_its_own_width(
    rng: torch.Generator,
) -> None:
    dot = torch.zeros(400, 3, 13, 13)
    dot[:, :, 6, 6] = 1
    peaks = random_blur(dot, AugmentationConfig(size=13, blur=0.5, blur_sigma=(0.5, 2.0)), rng)[
        :, 0, 6, 6
    ]
    is_blurred = peaks < 0.999
    assert is_blurred.float().mean().item() == pytest.approx(0.5, abs=0.08)
    assert len(set(peaks[is_blurred].tolist())) > 100
    assert peaks.min().item() == pytest.approx(1 / (2 * torch.pi * 4), abs=0.005)  # sigma 2


def test_probability_zero_blurs_no_image_and_one_blurs_all(rng: torch.Generator) -> None:
    images = torch.rand(20, 3, 13, 13, generator=rng)
    assert torch.equal(random_blur(images, AugmentationConfig(size=13), rng), images)
    all_of_them = random_blur(
        images, AugmentationConfig(size=13, blur=1.0, blur_sigma=(0.5, 2.0)), rng
    )
    assert ((all_of_them - images).abs().amax((1, 2, 3)) > 1e-3).all()
