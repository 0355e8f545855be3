"""The painted set: balanced, frozen, and as hard as it claims to be."""

import hashlib
import itertools

import numpy as np
import numpy.typing as npt
import pytest
import torch
from sklearn.cluster import KMeans
from torch import Tensor, nn

from likewise.errors import InvalidParameterError
from likewise.metrics import accuracy
from likewise.random_streams import derive, stream
from likewise_bench.datasets.synthetic import (
    BLOCK,
    FACTORS,
    PIXELS,
    SHAPES,
    SIZES,
    Draws,
    make_scenes,
    paint,
)

Scenes = tuple[npt.NDArray[np.uint8], dict[str, npt.NDArray[np.str_]]]
FROZEN = "50d27ea646bbbf13b5ef3378c25a2315f85fae727a23eba152946a4acb964393"


def test_the_images_of_seed_0_are_fixed() -> None:
    """If this fails, every published figure on `scenes` is void: raise VERSION and say so."""
    pictures, labels = make_scenes(128, seed=0)
    assert hashlib.sha256(pictures.tobytes()).hexdigest() == FROZEN
    first = tuple(str(labels[name][0]) for name in FACTORS)
    assert first == ("star", "yellow", "meadow", "small")


def test_images_are_uint8_of_64_by_64() -> None:
    pictures, labels = make_scenes(3)
    assert pictures.shape == (3, 64, 64, 3)
    assert pictures.dtype == np.uint8
    assert {name: len(column) for name, column in labels.items()} == dict.fromkeys(FACTORS, 3)


def test_every_block_has_every_combination_once() -> None:
    _, labels = make_scenes(2 * BLOCK, seed=3)
    rows = list(zip(*(labels[name].tolist() for name in FACTORS), strict=True))
    every = sorted(itertools.product(*FACTORS.values()))
    assert sorted(rows[:BLOCK]) == every
    assert sorted(rows[BLOCK:]) == every
    assert rows[:BLOCK] != rows[BLOCK:]


def test_the_first_images_do_not_depend_on_n_images() -> None:
    few, few_labels = make_scenes(5, seed=1)
    many, many_labels = make_scenes(130, seed=1)
    np.testing.assert_array_equal(few, many[:5])
    for name, labels in few_labels.items():
        np.testing.assert_array_equal(labels, many_labels[name][:5])


def test_another_seed_gives_other_images() -> None:
    assert not np.array_equal(make_scenes(8, seed=0)[0], make_scenes(8, seed=1)[0])


def test_no_two_images_are_equal() -> None:
    pictures, _ = make_scenes(2 * BLOCK)
    assert len({picture.tobytes() for picture in pictures}) == 2 * BLOCK


@pytest.mark.parametrize("n_images", [0, -1])
def test_zero_images_are_rejected(n_images: int) -> None:
    with pytest.raises(InvalidParameterError, match=f"n_images must be >= 1, got {n_images}"):
        make_scenes(n_images)


@pytest.mark.parametrize("size", SIZES)
def test_all_shapes_of_a_size_cover_the_same_area_and_touch_no_edge(size: str) -> None:
    """Else the amount of a colour would tell the shape."""
    n, names = 64, np.array(list(SHAPES))
    draws = Draws.make(stream(0, "test", size), n)
    covers = []
    for name in names:
        shapes, colours, skies = (np.full(n, text) for text in (name, "black", "sky"))
        drawn = paint(shapes, colours, skies, np.full(n, size), draws)
        dark = (drawn.mean(axis=3) < 0.43).reshape(n, PIXELS, PIXELS)
        assert not dark[:, [0, -1]].any()
        assert not dark[:, :, [0, -1]].any()
        covers.append(dark.sum(axis=(1, 2)))
    low, high = SIZES[size]
    radius = low + (high - low) * draws.pose[:, 3]
    for cover in covers:
        assert cover.mean() == pytest.approx(np.pi * (radius**2).mean(), rel=0.02)


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    """Return a third of the 6,000 images of the documented measurements."""
    return make_scenes(16 * BLOCK)


@pytest.mark.slow
def test_neither_pixels_nor_colours_reveal_the_shape(scenes: Scenes) -> None:
    pictures, labels = scenes
    for rows in (pictures.reshape(len(pictures), -1) / 255, colour_histograms(pictures)):
        found = KMeans(4, n_init=2, random_state=0).fit_predict(rows)
        assert accuracy(labels["shape"], found) <= 0.25 + 0.10


@pytest.mark.slow
def test_k_means_on_colours_finds_the_background(scenes: Scenes) -> None:
    pictures, labels = scenes
    found = KMeans(4, n_init=2, random_state=0).fit_predict(colour_histograms(pictures))
    assert accuracy(labels["background"], found) >= 0.9


@pytest.mark.slow
def test_a_supervised_network_learns_the_shape(scenes: Scenes) -> None:
    pictures, labels = scenes
    assert supervised_accuracy(pictures, labels["shape"]) >= 0.95


def colour_histograms(pictures: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Return the share of each of 64 colours (n, 64)."""
    code = (pictures // 64).astype(np.intp) @ np.array([16, 4, 1])  # (n, h, w)
    counts = [np.bincount(one.ravel(), minlength=64) for one in code]
    return np.array(counts) / PIXELS**2


def supervised_accuracy(
    pictures: npt.NDArray[np.uint8], labels: npt.NDArray[np.str_], n_test: int = 512
) -> float:
    """Train a small network on all but the last images; return its accuracy on these."""
    torch.set_num_threads(1)
    rng = torch.Generator().manual_seed(derive(0, "scenes", "supervised"))
    x = torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 255 - 0.5
    y = torch.from_numpy(np.unique(labels, return_inverse=True)[1])
    network, n_epochs = small_network(rng), 8
    batches = [b for _ in range(n_epochs) for b in shuffled(len(y) - n_test, rng)]
    optimizer = torch.optim.AdamW(network.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=len(batches))
    for batch in batches:
        loss = nn.functional.cross_entropy(network(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    network.eval()
    with torch.no_grad():
        return float((network(x[-n_test:]).argmax(dim=1) == y[-n_test:]).float().mean())


def shuffled(n: int, rng: torch.Generator) -> list[Tensor]:
    return list(torch.randperm(n, generator=rng).split(32))


def small_network(rng: torch.Generator) -> nn.Sequential:
    widths, layers = (3, 16, 32, 64, 64), nn.Sequential()
    for place, (n_in, n_out) in enumerate(itertools.pairwise(widths)):
        layers.append(nn.Conv2d(n_in, n_out, 3, stride=2 if place == 0 else 1, padding=1))
        layers.extend([nn.BatchNorm2d(n_out), nn.ReLU()])
        if place in (1, 2):
            layers.append(nn.MaxPool2d(2))
    layers.extend([nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(64, 4)])
    for parameter in layers.parameters():
        if parameter.ndim > 1:
            nn.init.kaiming_uniform_(parameter, generator=rng)
    return layers
