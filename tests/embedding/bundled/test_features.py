"""The palette facet counts colours, softly, and mostly in the middle."""

import numpy as np
import pytest

from likewise.embedding.bundled.features import SIDE, WIDTH, color_histograms


def plain(
    colour: tuple[int, int, int], side: int = 40
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.full((side, side, 3), colour, dtype=np.uint8)


def test_rows_sum_to_one_and_no_pictures_give_no_rows() -> None:
    rows = color_histograms([plain((200, 30, 30)), plain((0, 0, 0), side=7)])
    assert rows.shape == (2, WIDTH)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)
    assert color_histograms([]).shape == (0, WIDTH)


def test_one_colour_fills_at_most_eight_bins() -> None:
    assert (color_histograms([plain((200, 30, 30))])[0] > 0).sum() <= 8


def test_white_and_black_are_the_two_ends_of_the_grey_axis() -> None:
    white, black = color_histograms([plain((255, 255, 255)), plain((0, 0, 0))])
    cube = white.reshape(5, 7, 7)
    assert cube[4, 3, 3] == pytest.approx(1, abs=0.02)
    assert black.reshape(5, 7, 7)[0, 3, 3] == pytest.approx(1, abs=0.02)


def test_near_colours_are_nearer_than_far_ones() -> None:
    red, orange, blue = color_histograms(
        [plain((220, 20, 20)), plain((225, 50, 20)), plain((20, 20, 220))]
    )
    assert np.abs(red - orange).sum() < np.abs(red - blue).sum()


def test_the_middle_counts_more_than_the_rim() -> None:
    picture = plain((255, 255, 255), side=SIDE)
    picture[8:24, 8:24] = (220, 20, 20)  # a quarter of the area
    row, white = color_histograms([picture, plain((255, 255, 255))])
    assert row[white > 0.5].sum() < 0.6  # by area it would be 0.75


def test_a_picture_does_not_depend_on_its_companions() -> None:
    alone = color_histograms([plain((10, 200, 90))])
    together = color_histograms([plain((0, 0, 0)), plain((10, 200, 90))])
    np.testing.assert_array_equal(alone[0], together[1])
