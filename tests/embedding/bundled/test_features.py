"""Color histograms and grids, pooled maps and patches."""

import numpy as np
import pytest
import torch

from likewise.embedding.bundled.encoder import (
    COLOR_BINS,
    COLOR_GRID,
    COLOR_GRID_SIDE,
    HISTOGRAM_SIDE,
    color_grids,
    color_histograms,
    grid_means,
    mean_and_std,
    standardized_patches,
)
from likewise.nn.training import generator


def plain(
    color: tuple[int, int, int], side: int = 40
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.full((side, side, 3), color, dtype=np.uint8)


def test_histograms_sum_to_one_and_no_images_give_zero_rows() -> None:
    rows = color_histograms([plain((200, 30, 30)), plain((0, 0, 0), side=7)])
    assert rows.shape == (2, COLOR_BINS)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)
    assert color_histograms([]).shape == (0, COLOR_BINS)


def test_a_single_color_fills_at_most_eight_bins() -> None:
    assert (color_histograms([plain((200, 30, 30))])[0] > 0).sum() <= 8


def test_white_and_black_are_the_ends_of_the_gray_axis() -> None:
    white, black = color_histograms([plain((255, 255, 255)), plain((0, 0, 0))])
    cube = white.reshape(5, 7, 7)
    assert cube[4, 3, 3] == pytest.approx(1, abs=0.02)
    assert black.reshape(5, 7, 7)[0, 3, 3] == pytest.approx(1, abs=0.02)


def test_similar_colors_have_similar_histograms() -> None:
    red, orange, blue = color_histograms(
        [plain((220, 20, 20)), plain((225, 50, 20)), plain((20, 20, 220))]
    )
    assert np.abs(red - orange).sum() < np.abs(red - blue).sum()


def test_the_center_has_more_weight_than_the_border() -> None:
    image = plain((255, 255, 255), side=HISTOGRAM_SIDE)
    image[8:24, 8:24] = (220, 20, 20)  # a quarter of the area
    row, white = color_histograms([image, plain((255, 255, 255))])
    assert row[white > 0.5].sum() < 0.6  # by area it would be 0.75


def test_a_histogram_does_not_depend_on_the_other_images() -> None:
    alone = color_histograms([plain((10, 200, 90))])
    together = color_histograms([plain((0, 0, 0)), plain((10, 200, 90))])
    np.testing.assert_array_equal(alone[0], together[1])


def test_a_color_grid_shows_each_color_at_its_position() -> None:
    image = np.zeros((COLOR_GRID_SIDE, COLOR_GRID_SIDE, 3), np.uint8)
    image[3, 5] = (255, 0, 0)
    grid = color_grids([image])[0].reshape(COLOR_GRID_SIDE, COLOR_GRID_SIDE, 3)
    black = grid[0, 0]
    red = grid[3, 5] - black
    assert red[0] > 5  # lighter than black
    assert red[1] > 5  # and towards red
    grid[3, 5] = black
    np.testing.assert_array_equal(grid, np.broadcast_to(black, grid.shape))


def test_no_images_give_an_empty_color_grid() -> None:
    assert color_grids([]).shape == (0, COLOR_GRID[0] * COLOR_GRID[1])


@pytest.mark.parametrize(("h", "w"), [(3, 3), (10, 10), (7, 5), (2, 4), (1, 1)])
def test_grid_means_equal_adaptive_average_pooling(h: int, w: int) -> None:
    maps = torch.randn(2, 3, h, w, generator=generator(0, "maps"))
    expected = torch.nn.functional.adaptive_avg_pool2d(maps, 3).flatten(1)
    pooled = grid_means(maps.numpy())
    assert pooled.shape == (2, 27)
    np.testing.assert_allclose(pooled, expected, atol=1e-6)


def test_grid_means_keep_the_position() -> None:
    maps = np.zeros((1, 1, 9, 9), np.float32)
    maps[0, 0, :3, 6:] = 1
    assert grid_means(maps).tolist() == [[0, 0, 1, 0, 0, 0, 0, 0, 0]]


def test_mean_and_std_are_computed_from_moments() -> None:
    maps = np.asarray(torch.randn(2, 5, 30, generator=generator(0, "maps")))
    pooled = mean_and_std(maps.mean(2), (maps**2).mean(2))
    expected = np.concatenate([maps.mean(2), maps.std(2)], axis=1)
    np.testing.assert_allclose(pooled, expected, atol=1e-5)
    constant = mean_and_std(np.full((1, 1), 3.0, np.float32), np.full((1, 1), 8.9999, np.float32))
    assert constant.tolist() == [[3, 0]]


def test_patches_are_standardized_position_by_position() -> None:
    maps = [np.arange(12, dtype=np.float32).reshape(1, 2, 2, 3), np.ones((1, 1, 2, 3), np.float32)]
    statistics = [
        (np.array([1, 2], np.float32), np.array([2, 4], np.float32)),
        (np.array([0], np.float32), np.array([0.5], np.float32)),
    ]
    patches = standardized_patches(maps, statistics)
    assert patches.shape == (1, 18)
    row, column = 1, 2
    expected = [(maps[0][0, 0, row, column] - 1) / 2, (maps[0][0, 1, row, column] - 2) / 4, 2]
    np.testing.assert_allclose(patches[0].reshape(6, 3)[3 * row + column], expected)
