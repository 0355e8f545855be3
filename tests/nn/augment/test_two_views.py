"""Two views: random, each for itself, from the given generator and nothing else."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.nn.augmentation import AugmentationConfig, make_augmentation
from likewise.nn.image_views import evaluation_view, one_view, two_views

RECIPE = make_augmentation("cc-imagenet", size=16)


@pytest.fixture
def images(rng: torch.Generator) -> Tensor:
    return torch.randint(0, 256, (12, 3, 20, 24), generator=rng, dtype=torch.uint8)


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_views_have_the_size_asked_for_and_differ(images: Tensor) -> None:
    a, b = two_views(images, RECIPE, seeded(0))
    assert a.shape == b.shape == (12, 3, 16, 16)
    assert a.dtype == b.dtype == torch.float32
    assert ((a - b).abs().amax((1, 2, 3)) > 1e-3).all()
    assert min(a.min().item(), b.min().item()) >= -1e-6
    assert max(a.max().item(), b.max().item()) <= 1 + 1e-6


def test_equal_pictures_are_drawn_for_one_by_one(images: Tensor) -> None:
    a, _ = two_views(images[:1].repeat(8, 1, 1, 1), RECIPE, seeded(0))
    for i in range(8):
        for j in range(i):
            assert (a[i] - a[j]).abs().max() > 1e-3


def test_the_same_generator_gives_the_same_views_and_moves_on(images: Tensor) -> None:
    generator = seeded(0)
    first, second = two_views(images, RECIPE, generator), two_views(images, RECIPE, generator)
    again = two_views(images, RECIPE, seeded(0))
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    assert not torch.equal(first[0], second[0])


def test_the_global_generator_is_neither_used_nor_moved(images: Tensor) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        state = torch.get_rng_state()
        ours = one_view(images, RECIPE, seeded(0))
        assert torch.equal(torch.get_rng_state(), state)
        torch.manual_seed(2)
        assert torch.equal(one_view(images, RECIPE, seeded(0)), ours)


def test_bytes_and_floats_of_the_same_picture_have_the_same_views(images: Tensor) -> None:
    from_bytes = one_view(images, RECIPE, seeded(0))
    torch.testing.assert_close(one_view(images / 255, RECIPE, seeded(0)), from_bytes)


def test_views_are_as_exact_under_autocast_as_without(images: Tensor) -> None:
    plain = one_view(images, RECIPE, seeded(0))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(one_view(images, RECIPE, seeded(0)), plain)


def test_with_everything_off_a_view_is_the_whole_picture(images: Tensor) -> None:
    still = AugmentationConfig(
        size=16, scale=(1.0, 1.0), ratio=(1.2, 1.2), flip=0.0, strength=0.0, grayscale=0.0
    )
    whole = evaluation_view(images, 16)
    torch.testing.assert_close(one_view(images, still, seeded(0)), whole, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        {"scale": (0.2, 0.3)},
        {"flip": 1.0},
        {"strength": 1.0},
        {"grayscale": 1.0},
        {"blur": 1.0},
        {"normalise": "imagenet"},
    ],
    ids=str,
)
def test_each_part_of_the_augmentation_changes_the_view(
    images: Tensor, change: dict[str, object]
) -> None:
    still: dict[str, object] = {
        "size": 16,
        "scale": (1.0, 1.0),
        "ratio": (1.2, 1.2),
        "flip": 0.0,
        "strength": 0.0,
        "grayscale": 0.0,
    }
    plain = one_view(images, AugmentationConfig(**still), seeded(0))  # type: ignore[arg-type]  # from a table
    other = one_view(images, AugmentationConfig(**still | change), seeded(0))  # type: ignore[arg-type]
    assert (plain - other).abs().max() > 0.01


def test_the_ablations_replace_random_views_by_the_whole_picture(images: Tensor) -> None:
    whole = evaluation_view(images, 16)
    a, b = two_views(images, RECIPE, seeded(0), views="one")
    assert torch.equal(b, whole)
    assert not torch.equal(a, whole)
    a, b = two_views(images, RECIPE, seeded(0), views="none")
    assert torch.equal(a, whole)
    assert torch.equal(b, whole)
    with pytest.raises(UnknownNameError, match="'three' is not a known number of views"):
        two_views(images, RECIPE, seeded(0), views="three")


def test_the_evaluation_view_resizes_without_cropping(images: Tensor) -> None:
    expected = F.interpolate(images / 255, (16, 16), mode="bilinear", antialias=True)
    torch.testing.assert_close(evaluation_view(images, 16), expected)
    square = images[:, :, :20, :20]
    torch.testing.assert_close(evaluation_view(square, 20), square / 255)


def test_normalising_takes_out_imagenets_mean_and_deviation() -> None:
    mean = torch.tensor([0.485, 0.456, 0.406])[:, None, None].expand(1, 3, 4, 4)
    deviation = torch.tensor([0.229, 0.224, 0.225])[:, None, None]
    zero = evaluation_view(mean, 4, "imagenet")
    torch.testing.assert_close(zero, torch.zeros(1, 3, 4, 4), rtol=0, atol=1e-6)
    one = evaluation_view(mean + deviation, 4, "imagenet")
    torch.testing.assert_close(one, torch.ones(1, 3, 4, 4), rtol=0, atol=1e-5)
    with pytest.raises(UnknownNameError, match="did you mean 'imagenet'"):
        evaluation_view(mean, 4, "imagent")


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 1, 8, 8), (2, 8, 8, 3), (0, 3, 8, 8)])
def test_shapes_that_are_not_colour_pictures_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"images must be colour images .* put channels second"
    ):
        one_view(torch.zeros(shape), RECIPE, seeded(0))


@pytest.mark.parametrize(
    "wrong",
    [
        torch.full((1, 3, 4, 4), 200.0),
        torch.full((1, 3, 4, 4), 1.1),
        torch.full((1, 3, 4, 4), -0.1),
        torch.full((1, 3, 4, 4), torch.nan),
        torch.ones(1, 3, 4, 4, dtype=torch.int64),
    ],
    ids=["255", "above one", "negative", "nan", "integers"],
)
def test_values_that_are_not_pixels_are_refused(wrong: Tensor) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"images must be uint8, or floats .* divide by 255"
    ):
        one_view(wrong, RECIPE, seeded(0))
