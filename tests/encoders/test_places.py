"""Small vectors of many places, in bytes: what comes out is what went in."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from likewise.encoders.colours import DEPTH, N_PLACES, SIDE, colour_places
from likewise.encoders.places import Places, from_bytes, to_bytes, widths
from likewise.seeds import stream

GRIDS = {"parts": (3, 2), "colours": (2, 4)}


@pytest.fixture
def places() -> Places:
    rows = stream(0, "places").integers(0, 256, (5, 14)).astype(np.uint8)
    return Places(rows, GRIDS, np.array([4, 0, 2]))


@given(arrays(np.float32, 7, elements=st.floats(-20, 20, width=32)))
def test_bytes_keep_numbers_to_a_thirty_second_within_eight(x: npt.NDArray[np.float32]) -> None:
    back = from_bytes(to_bytes(x))
    np.testing.assert_allclose(back, np.clip(x, -8, 127 / 16), atol=1 / 32 + 1e-6)


def test_reading_equals_cutting_each_row_by_hand(places: Places) -> None:
    for image, row in enumerate((4, 0, 2)):
        numbers = from_bytes(places.rows[row])
        parts = places.read("parts", slice(image, image + 1))[0]
        colours = places.read("colours", np.array([image]))[0]
        for place in range(3):
            np.testing.assert_array_equal(parts[place], numbers[2 * place : 2 * place + 2])
        for place in range(2):
            np.testing.assert_array_equal(colours[place], numbers[6 + 4 * place : 10 + 4 * place])


def test_some_images_stay_in_the_order_asked_for(places: Places) -> None:
    some = places.take(np.array([2, 0]))
    assert len(some) == 2
    everything = places.read("parts", slice(0, 3))
    np.testing.assert_array_equal(some.read("parts", slice(0, 2)), everything[[2, 0]])


def test_a_grid_that_is_not_there_is_an_error(places: Places) -> None:
    with pytest.raises(KeyError, match="mood"):
        places.read("mood", slice(0, 1))


def test_widths_are_places_times_depth() -> None:
    assert widths(GRIDS) == {"parts": 6, "colours": 8}


def test_colours_are_told_where_they_are() -> None:
    picture = np.zeros((SIDE, SIDE, 3), np.uint8)
    picture[3, 5] = (255, 0, 0)
    found = colour_places([picture])[0].reshape(SIDE, SIDE, DEPTH)
    black = found[0, 0]
    red = found[3, 5] - black
    assert red[0] > 5  # lighter than black
    assert red[1] > 5  # and towards red
    found[3, 5] = black
    np.testing.assert_array_equal(found, np.broadcast_to(black, found.shape))


def test_no_pictures_have_no_colours() -> None:
    assert colour_places([]).shape == (0, N_PLACES * DEPTH)
