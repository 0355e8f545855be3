"""Crops against torch's own resizing of a plain slice, and the boxes they are taken from."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from likewise.nn.image_views import Boxes, crop_resize, draw_boxes

RATIO = (3 / 4, 4 / 3)


def naive_crop(image: Tensor, box: tuple[int, ...], size: int, *, mirrored: bool) -> Tensor:
    """Return a slice, resized by torch as Pillow does, mirrored."""
    top, left, height, width = box
    part = image[None, :, top : top + height, left : left + width]
    out = F.interpolate(part, (size, size), mode="bilinear", antialias=True)[0]
    return out.flip(2) if mirrored else out


@pytest.mark.parametrize("size", [1, 7, 32, 50])
def test_a_crop_is_the_resized_slice(size: int, rng: torch.Generator) -> None:
    images = torch.rand(6, 3, 20, 30, generator=rng, dtype=torch.float64)
    drawn = [(0, 0, 20, 30), (3, 5, 1, 1), (19, 29, 1, 1), (4, 0, 16, 9), (0, 10, 7, 20)]
    drawn.append((2, 2, 13, 17))
    boxes = Boxes(*torch.tensor(drawn, dtype=torch.float64).T)
    mirrored = torch.tensor([False, True, False, True, False, True])
    views = crop_resize(images, boxes, mirrored, size)
    assert views.shape == (6, 3, size, size)
    for image, box, flip, view in zip(images, drawn, mirrored.tolist(), views, strict=True):
        expected = naive_crop(image, box, size, mirrored=flip)
        torch.testing.assert_close(view, expected, rtol=0, atol=1e-9)


@settings(deadline=None, max_examples=40)
@given(h=st.integers(1, 60), w=st.integers(1, 60), seed=st.integers(0, 1000))
def test_every_box_lies_within_the_picture(h: int, w: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    boxes = draw_boxes(50, (h, w), (0.08, 1.0), RATIO, generator)
    for start, length, side in ((boxes.top, boxes.height, h), (boxes.left, boxes.width, w)):
        assert (start >= 0).all()
        assert (length >= 1).all()
        assert (start + length <= side).all()
        assert torch.equal(start, start.round())


def test_areas_and_aspects_fill_their_ranges(rng: torch.Generator) -> None:
    boxes = draw_boxes(4000, (300, 300), (0.2, 0.6), RATIO, rng)
    share = boxes.height * boxes.width / 300**2
    aspect = boxes.width / boxes.height
    assert share.min().item() == pytest.approx(0.2, abs=0.01)
    assert share.max().item() == pytest.approx(0.6, abs=0.01)
    assert share.mean().item() == pytest.approx(0.4, abs=0.01)  # uniform in area
    assert aspect.log().mean().item() == pytest.approx(0, abs=0.01)  # uniform in log aspect
    assert aspect.min().item() == pytest.approx(3 / 4, abs=0.02)
    assert aspect.max().item() == pytest.approx(4 / 3, abs=0.02)


@pytest.mark.parametrize(
    ("scale", "side", "share"),
    [
        ((0.5, 1.0), 4, (1 - 3.5**2 / 16) / 0.5),  # 3.5 and more are rounded to the whole picture
        ((0.01, 0.3), 1, (1.5**2 - 0.5**2) / 16 / (0.3 - 0.5**2 / 16)),  # below 0.5 drawn again
    ],
)
def test_boxes_may_be_as_large_as_the_picture_and_as_small_as_a_pixel(
    scale: tuple[float, float], side: int, share: float, rng: torch.Generator
) -> None:
    boxes = draw_boxes(4000, (4, 4), scale, (1.0, 1.0), rng)
    assert (boxes.height == side).float().mean().item() == pytest.approx(share, abs=0.03)


def test_boxes_reach_every_border(rng: torch.Generator) -> None:
    boxes = draw_boxes(3000, (10, 10), (0.3, 0.5), RATIO, rng)
    assert boxes.top.min() == 0
    assert boxes.left.min() == 0
    assert (boxes.top + boxes.height).max() == 10
    assert (boxes.left + boxes.width).max() == 10
    middle = boxes.top + boxes.height / 2
    assert middle.mean().item() == pytest.approx(5, abs=0.1)


@pytest.mark.parametrize("source", [(10, 1000), (1000, 10)])
def test_a_strip_too_narrow_for_any_box_gives_its_central_part(
    source: tuple[int, int], rng: torch.Generator
) -> None:
    boxes = draw_boxes(5, source, (0.9, 1.0), RATIO, rng)
    longest = 13  # 10 * 4/3, rounded
    expected = {(10, 1000): (0, 493, 10, longest), (1000, 10): (493, 0, longest, 10)}[source]
    for number, field in enumerate((boxes.top, boxes.left, boxes.height, boxes.width)):
        assert field.tolist() == [expected[number]] * 5
