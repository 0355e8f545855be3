"""`scenes`: generated pictures whose four orientations have nothing to do with each other.

Each picture shows a shape of some colour and size before a background. The four are crossed:
knowing one says nothing about another. Unguided methods sort by background; the shape can be
seen by anyone, but neither pixels nor colours tell it.

Frozen: the pictures of a seed never change, so that figures stay comparable. `VERSION` goes
up if they ever must.
"""

import itertools

import numpy as np
import numpy.typing as npt

from likewise.benchmark.painting import BACKGROUNDS, COLOURS, SHAPES, SIZES, Draws, paint
from likewise.errors import InvalidParameterError
from likewise.seeds import stream

VERSION = 1
#: Every orientation with its values, in order.
FACTORS = {
    "shape": tuple(SHAPES),
    "colour": tuple(COLOURS),
    "background": tuple(BACKGROUNDS),
    "size": tuple(SIZES),
}
_COMBINATIONS = np.array(list(itertools.product(*FACTORS.values())))  # (128, 4)
BLOCK = len(_COMBINATIONS)


def make_scenes(
    n_images: int, *, seed: int = 0
) -> tuple[npt.NDArray[np.uint8], dict[str, npt.NDArray[np.str_]]]:
    """Paint `n_images` scenes; return pixels (n, 64, 64, 3) and the labels of each orientation.

    Pictures come in blocks of 128 that hold every combination once, in random order. The
    first pictures of a seed are the same whatever `n_images` is.

    Examples
    --------
    >>> pictures, orientations = make_scenes(128, seed=0)
    >>> pictures.shape, sorted(orientations)
    ((128, 64, 64, 3), ['background', 'colour', 'shape', 'size'])
    """
    if n_images < 1:
        raise InvalidParameterError(f"n_images={n_images} is no collection; ask for at least 1.")
    blocks = [_block(seed, number) for number in range(-(-n_images // BLOCK))]
    pictures = np.concatenate([pictures for pictures, _ in blocks])[:n_images]
    labels = np.concatenate([labels for _, labels in blocks])[:n_images]
    return pictures, {name: labels[:, column] for column, name in enumerate(FACTORS)}


def _block(seed: int, number: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.str_]]:
    """Return the pictures and labels (128, 4) of one block."""
    labels = stream(seed, "scenes", VERSION, "order", number).permutation(_COMBINATIONS)
    draws = Draws.make(stream(seed, "scenes", VERSION, "draws", number), BLOCK)
    shapes, colours, backgrounds, sizes = labels.T
    pictures = paint(shapes, colours, backgrounds, sizes, draws)
    return np.floor(pictures * 255 + 0.5).astype(np.uint8), labels
