"""Which pictures answers tie together, ready to be looked up."""

import numpy as np

from likewise.types import Indexes


class Ties:
    """The groups of a graph at one moment, by image.

    Parameters
    ----------
    groups : array of shape (n,)
        See `ConstraintGraph.groups`.

    Examples
    --------
    >>> Ties(np.array([0, 1, 0, 0, 4])).of(2, 5)
    [0, 3]
    """

    def __init__(self, groups: Indexes) -> None:
        self._groups = groups
        tied = np.flatnonzero(np.bincount(groups, minlength=len(groups))[groups] > 1)
        self._members: dict[int, list[int]] = {}
        for image, group in zip(tied.tolist(), groups[tied].tolist(), strict=True):
            self._members.setdefault(group, []).append(image)

    def of(self, image: int, n: int) -> list[int]:
        """Return at most `n` other images of the group of one; none if it is newer than this."""
        if not 0 <= image < len(self._groups):
            return []
        members = self._members.get(int(self._groups[image]), [])
        return [other for other in members[: n + 1] if other != image][:n]
