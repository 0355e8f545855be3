"""The grid ``colours``: what colour a picture has in each of 16 x 16 places."""

from collections.abc import Sequence

import numpy as np

from likewise.encoders.encoder import Floats
from likewise.encoders.palette import small, to_lab
from likewise.images.collection import Pixels

SIDE = 16  # places a side
N_PLACES, DEPTH = SIDE * SIDE, 3
_MIDDLE = np.array([50.0, 0.0, 0.0], np.float32)  # of L*, a*, b*
_UNIT = np.array([6.5, 10.0, 10.0], np.float32)  # so that eight units reach all but the gaudiest


def colour_places(pictures: Sequence[Pixels] | Pixels) -> Floats:
    """Return CIE L*a*b* in each place, place after place, ``(n, 768)``, in units of about one."""
    if not len(pictures):
        return np.zeros((0, N_PLACES * DEPTH), np.float32)
    lab = to_lab(np.stack([small(picture, SIDE) for picture in pictures]))
    units: Floats = ((lab - _MIDDLE) / _UNIT).reshape(len(pictures), -1)
    return units
