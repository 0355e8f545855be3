"""Which groups are known to be different, and how many images that concerns.

A group that is different from many others (`CROWDED`) would make every merge
walk along all of them just to count images. So an uncrowded group tells its
crowded neighbours when it grows, and a crowded one is looked up when needed:
no step is longer than a few dozen neighbours plus the crowded ones.
"""

from typing import Self

CROWDED = 64


class Apart:
    """Pairs of groups with the number of given facts behind each."""

    def __init__(self) -> None:
        self.rows: dict[int, dict[int, int]] = {}  # group -> {group: facts}
        self.sizes: dict[int, int] = {}  # images in a group, where it is not one
        self._near: dict[int, int] = {}  # crowded group -> images in its uncrowded neighbours

    def copy(self) -> Self:
        """Return one that can be changed alone."""
        twin = type(self)()
        twin.rows = {group: row.copy() for group, row in self.rows.items()}
        twin.sizes = self.sizes.copy()
        twin._near = self._near.copy()
        return twin

    def join(self, first: int, second: int) -> bool:
        """Add a fact that says two groups differ; return whether it is the first to say so."""
        rows = self.rows
        row, other = rows.setdefault(first, {}), rows.setdefault(second, {})
        if second in row:
            row[second] += 1
            other[first] += 1
            return False
        row[second] = other[first] = 1
        if self._near:
            self._shift(first, second, 1)
        if len(row) > CROWDED:
            self._crowd(first, row)
        if len(other) > CROWDED:
            self._crowd(second, other)
        return True

    def part(self, first: int, second: int) -> None:
        """Take away a fact that said two groups differ."""
        if self.rows[first][second] > 1:
            self.rows[first][second] -= 1
            self.rows[second][first] -= 1
            return
        if self._near:
            self._shift(first, second, -1)
        for here, there in ((first, second), (second, first)):
            del self.rows[here][there]
            if not self.rows[here]:
                del self.rows[here]
                self._near.pop(here, None)

    def absorb(self, kept: int, gone: int) -> int:
        """Let `kept` inherit all that `gone` is different from.

        Returns
        -------
        n_shared : int
            How many images are in groups that both were different from.
        """
        gone_row = self.rows.pop(gone, None)
        if gone_row is None:
            return 0
        rows, near, sizes, n_shared = self.rows, self._near, self.sizes, 0
        row = rows.setdefault(kept, {})
        lost = 0 if near.pop(gone, None) is not None else sizes.get(gone, 1)  # if uncrowded
        won = 0 if kept in near else sizes.get(kept, 1)
        for other, facts in gone_row.items():
            other_row = rows[other]
            del other_row[gone]
            is_new = other not in row
            row[other] = other_row[kept] = facts + (0 if is_new else row[other])
            n_shared += 0 if is_new else sizes.get(other, 1)
            if other in near:
                near[other] += won - lost if is_new else -lost
            elif is_new and kept in near:
                near[kept] += sizes.get(other, 1)
        if len(row) > CROWDED:
            self._crowd(kept, row)
        return n_shared

    def resize(self, group: int, size: int) -> None:
        """Note how many images are in a group."""
        grown = size - self.sizes.get(group, 1)
        if self._near and group not in self._near:
            for other in self.rows.get(group, ()):
                if other in self._near:
                    self._near[other] += grown
        if size == 1:
            self.sizes.pop(group, None)
        else:
            self.sizes[group] = size

    def weight(self, group: int) -> int:
        """Return how many images are in groups known to differ from `group`."""
        row = self.rows.get(group)
        if row is None:
            return 0
        size = self.sizes.get
        if group not in self._near:
            return sum([size(other, 1) for other in row])
        crowded = row.keys() & self._near.keys()
        return self._near[group] + sum([size(other, 1) for other in crowded])

    def _shift(self, first: int, second: int, sign: int) -> None:
        """Tell the crowded one of two groups that an uncrowded neighbour came or went."""
        near = self._near
        if first in near:
            if second not in near:
                near[first] += sign * self.sizes.get(second, 1)
        elif second in near:
            near[second] += sign * self.sizes.get(first, 1)

    def _crowd(self, group: int, row: dict[int, int]) -> None:
        """Note that a group is crowded, if that is news."""
        near = self._near
        if group in near:
            return
        size, uncrowded = self.sizes.get(group, 1), 0
        for other in row:
            if other in near:
                near[other] -= size
            else:
                uncrowded += self.sizes.get(other, 1)
        near[group] = uncrowded
