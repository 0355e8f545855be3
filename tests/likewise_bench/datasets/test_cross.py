"""Two things side by side."""

import numpy as np
import pytest

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.images.collection import ImageCollection
from likewise.images.in_memory import ArrayCollection
from likewise.images.resize import resize
from likewise_bench.datasets import Dataset, load_dataset
from likewise_bench.datasets.synthetic import Side, cross


def toy(n: int, dark: int) -> Dataset:
    """Return `n` uniform images of increasing brightness; the label is the brightness."""
    values = dark + np.arange(n)
    pictures = np.broadcast_to(values[:, None, None], (n, 6, 9)).astype(np.uint8)
    return Dataset("toy", {"value": values.astype(np.str_)}, ArrayCollection(pictures))


@pytest.fixture
def crossed() -> Dataset:
    return cross(Side.of(toy(5, 0)), Side.of(toy(7, 100)), n_images=35, size=8, seed=1)


def test_each_half_shows_the_image_of_its_label(crossed: Dataset) -> None:
    assert isinstance(crossed.collection, ImageCollection)
    for index in range(35):
        picture = crossed.collection.pixels(index)
        assert picture.shape == (8, 16, 3)
        assert set(picture[:, :8].ravel().tolist()) == {int(crossed.labels("left")[index])}
        assert set(picture[:, 8:].ravel().tolist()) == {int(crossed.labels("right")[index])}


def test_no_image_is_repeated_before_all_were_used(crossed: Dataset) -> None:
    left, right = crossed.labels("left"), crossed.labels("right")
    for start in range(0, 35, 5):
        assert len(set(left[start : start + 5])) == 5
    for start in range(0, 35, 7):
        assert len(set(right[start : start + 7])) == 7


def test_the_same_seed_gives_the_same_pairs_and_another_does_not() -> None:
    sides = Side.of(toy(50, 0)), Side.of(toy(50, 100))
    first, again, other = (cross(*sides, n_images=50, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.labels("left"), again.labels("left"))
    np.testing.assert_array_equal(first.labels("right"), again.labels("right"))
    assert first.labels("left").tolist() != other.labels("left").tolist()
    assert first.labels("left").tolist() != [str(int(v) - 100) for v in first.labels("right")]


def test_names_and_identities_are_unique(crossed: Dataset) -> None:
    assert crossed.collection is not None
    pairs = set(zip(crossed.labels("left"), crossed.labels("right"), strict=True))
    identities = {crossed.collection.identity(i) for i in range(35)}
    assert len(identities) == len(pairs)
    left, right = crossed.labels("left")[0], int(crossed.labels("right")[0]) - 100
    assert crossed.collection.name(0) == f"{left}+{right}"


def test_any_two_data_sets_can_be_combined() -> None:
    dataset = load_dataset("cross:digits/half+digits/parity", n_images=40)
    assert dataset.name == "cross:digits/half+digits/parity"
    assert set(dataset.labels("left")) == {"0 to 4", "5 to 9"}
    assert set(dataset.labels("right")) == {"even", "odd"}


@pytest.mark.slow
def test_by_default_digits_and_scenes_are_combined() -> None:
    dataset = load_dataset("cross", n_images=12)
    scenes, digits = load_dataset("scenes"), load_dataset("digits")
    assert dataset.collection is not None
    assert scenes.collection is not None
    assert digits.collection is not None
    one, other = (int(position) for position in dataset.collection.name(0).split("+"))
    assert dataset.labels("left")[0] == digits.labels("digit")[one]
    assert dataset.labels("right")[0] == scenes.labels("shape")[other]
    picture = dataset.collection.pixels(0)
    np.testing.assert_array_equal(picture[:, :64], resize(digits.collection.pixels(one), 64))
    np.testing.assert_array_equal(picture[:, 64:], scenes.collection.pixels(other))


@pytest.mark.parametrize("sides", ["digits", "digits+", "a+b+c"])
def test_one_or_three_sides_are_rejected(sides: str) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"cross needs two data sets, got .*; write cross:LEFT"
    ):
        load_dataset(f"cross:{sides}")


def test_an_unknown_side_or_criterion_is_named_in_the_error() -> None:
    with pytest.raises(UnknownNameError, match="'digit' is not a known data set; did you mean 'di"):
        load_dataset("cross:digit+scenes")
    with pytest.raises(UnknownNameError, match="'parit' is not a known criterion of digits; di"):
        load_dataset("cross:digits+digits/parit")


def test_a_side_without_images_is_rejected() -> None:
    vectors = Dataset("v", {"x": np.array(["a"])}, vectors=np.ones((1, 2), dtype=np.float32))
    with pytest.raises(InvalidParameterError, match="'v' has only vectors, no images"):
        Side.of(vectors)


@pytest.mark.parametrize(("n_images", "size"), [(0, 8), (3, 0)])
def test_zero_images_or_size_are_rejected(n_images: int, size: int) -> None:
    side = Side.of(toy(3, 0))
    with pytest.raises(InvalidParameterError, match=f"must be >= 1, got {n_images} and {size}"):
        cross(side, side, n_images=n_images, size=size)
