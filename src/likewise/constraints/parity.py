"""What follows when there are two groups only: different from different is the same."""

from array import array
from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from likewise.constraints.given import Edge, Given, Seat
from likewise.constraints.partition import Partition
from likewise.constraints.relation import Indexes, Pairs, Relations
from likewise.constraints.search import cut_off

Flags = npt.NDArray[np.bool_]


class ParityClosure:
    """Nodes tied by any fact, each on one of two sides.

    Inside a tied set everything is known, between two nothing is. Names need
    one more node only: the first name means its side, the second the other.
    """

    def __init__(self, n_images: int) -> None:
        self.n_images = n_images
        self._parts = Partition(n_images)
        self._sides = array("b", bytes(n_images))  # (n_nodes,) 0 or 1 within the tied set

    def copy(self) -> Self:
        """Return one that can be changed alone."""
        twin = type(self)(0)
        twin.n_images, twin._parts = self.n_images, self._parts.copy()
        twin._sides = self._sides[:]
        return twin

    def add_name(self) -> int:
        """Return a new node that stands for the names."""
        self._sides.append(0)
        return self._parts.add_node()

    def is_tied(self, first: int, second: int) -> bool:
        """Return whether something is known of two nodes."""
        return self._parts.group[first] == self._parts.group[second]

    def name_of(self, node: int) -> int | None:
        """Return None: names follow from the facts alone, there is no rule between them."""

    def relation(self, first: int, second: int) -> int:
        """Return what follows for two nodes."""
        group, sides = self._parts.group, self._sides
        if group[first] != group[second]:
            return 0
        return 1 if sides[first] == sides[second] else -1

    def link(self, first: int, second: int, relation: int) -> int:
        """Take in a fact that contradicts nothing; return how many pairs of images it settles."""
        parts, sides = self._parts, self._sides
        a, b = parts.group[first], parts.group[second]
        if a == b:
            return 0
        if len(parts.nodes(a)) > len(parts.nodes(b)):
            a, b = b, a
        n_settled = self._n_images_in(a) * self._n_images_in(b)
        if (sides[first] == sides[second]) != (relation > 0):
            for node in parts.nodes(a):
                sides[node] ^= 1
        parts.absorb(b, a)
        return n_settled

    def unlink(self, edge: Edge, given: Given) -> None:
        """Forget a fact that is no longer among the `given` ones."""
        side = cut_off(given, edge[0], edge[1], by_any=True)
        if side is not None:
            self._parts.split(self._parts.group[edge[0]], side)

    def matrix(self, indexes: Indexes) -> Relations:
        """Return the relations of images with each other, (b, b)."""
        tied, sides = self._parts.view()[indexes], self._view()[indexes]
        return _relations(np.equal.outer(tied, tied), np.equal.outer(sides, sides))

    def pairs(self, pairs: Pairs) -> Relations:
        """Return the relation of each pair of images, (m,)."""
        tied, sides = self._parts.view()[pairs], self._view()[pairs]
        return _relations(tied[:, 0] == tied[:, 1], sides[:, 0] == sides[:, 1])

    def groups(self) -> Indexes:
        """Return the group of each image, named by its first image, (n,)."""
        return self._first_images()[self._halves()[: self.n_images]]

    def apart(self) -> Pairs:
        """Return the pairs of groups that are different, each named by its first image."""
        couples = np.sort(self._first_images().reshape(-1, 2), axis=1)
        couples = couples[couples[:, 1] < self.n_images]
        return couples[np.argsort(couples[:, 0])]

    def first_images(self, seats: Sequence[Seat]) -> list[int]:
        """Return the first image in the group of each name, `n_images` where there is none."""
        group, sides = self._parts.group, self._sides
        halves = [2 * group[node] + (sides[node] ^ (relation < 0)) for node, relation in seats]
        first: list[int] = self._first_images()[np.array(halves, dtype=np.intp)].tolist()
        return first

    def _n_images_in(self, group: int) -> int:
        """Return how many images are in a tied set; at most one node stands for names."""
        names = self._parts.group[self.n_images :]  # none or one
        return len(self._parts.nodes(group)) - (group in names)

    def _view(self) -> npt.NDArray[np.int8]:
        """Return the side of each node; use it at once, it shares memory."""
        return np.frombuffer(self._sides, dtype=np.int8)

    def _halves(self) -> Indexes:
        """Return the half of a tied set that each node is in."""
        return 2 * self._parts.view() + self._view()

    def _first_images(self) -> Indexes:
        """Return the first image of each half, `n_images` where there is none."""
        first = np.full(2 * len(self._parts.group), self.n_images, dtype=np.intp)
        backwards = np.arange(self.n_images - 1, -1, -1)
        first[self._halves()[backwards]] = backwards  # the last one written stays
        return first


def _relations(is_tied: Flags, is_same: Flags) -> Relations:
    """Return what is known where nodes are tied, and nothing elsewhere."""
    return np.where(is_tied, np.where(is_same, 1, -1), 0).astype(np.int8)
