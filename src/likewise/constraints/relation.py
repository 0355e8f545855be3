"""What can be said of two images: same, different, or nothing yet."""

from enum import IntEnum

import numpy as np
import numpy.typing as npt

Pairs = npt.NDArray[np.intp]  # (m, 2), first < second
Indexes = npt.NDArray[np.intp]  # (b,)
Relations = npt.NDArray[np.int8]  # values of `Relation`


class Relation(IntEnum):
    """The relation of two images; its negative is the opposite one."""

    DIFFERENT = -1
    UNKNOWN = 0
    SAME = 1

    @property
    def sign(self) -> str:
        """Return the relation as a person writes it."""
        return {Relation.SAME: "=", Relation.DIFFERENT: "≠", Relation.UNKNOWN: "?"}[self]
