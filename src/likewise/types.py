"""Shared types: arrays of floats, indexes and pairs; the callback that reports progress."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Indexes = npt.NDArray[np.intp]
Pairs = npt.NDArray[np.intp]


class Progress(Protocol):
    """Called by a long operation with the work done so far and the total; must return quickly."""

    def __call__(self, done: int, total: int) -> None:
        """Report progress."""


def silent(done: int, total: int) -> None:
    """Report nothing: the default `Progress`."""
