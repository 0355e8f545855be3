"""What follows from the facts: SAME is an equivalence, and DIFFERENT is inherited along it."""

from collections.abc import Sequence
from itertools import chain
from typing import Self

import numpy as np

from likewise.constraints.apart import Apart
from likewise.constraints.given import Edge, Given, Seat
from likewise.constraints.partition import Partition
from likewise.constraints.relation import Indexes, Pairs, Relation, Relations
from likewise.constraints.search import cut_off


class Closure:
    """Groups of nodes, and which of them are different.

    A group holds at most one name (a node above the images), and two groups
    with names are different: that rule is kept as a rule, not as pairs.
    """

    def __init__(self, n_images: int) -> None:
        self.n_images = n_images
        self._parts = Partition(n_images)
        self._apart = Apart()
        self._named: dict[int, int] = {}  # group -> the node of its name
        self._n_named = 0  # images in groups with a name

    def copy(self) -> Self:
        """Return one that can be changed alone."""
        twin = type(self)(0)
        twin.n_images, twin._n_named = self.n_images, self._n_named
        twin._parts, twin._apart = self._parts.copy(), self._apart.copy()
        twin._named = self._named.copy()
        return twin

    def add_name(self) -> int:
        """Return a new node that stands for a name."""
        node = self._parts.add_node()
        self._named[node] = node
        self._apart.resize(node, 0)
        return node

    def is_tied(self, first: int, second: int) -> bool:
        """Return whether two nodes are in one group."""
        return self._parts.group[first] == self._parts.group[second]

    def name_of(self, node: int) -> int | None:
        """Return the name that the group of `node` has, as a node."""
        return self._named.get(self._parts.group[node])

    def relation(self, first: int, second: int) -> int:
        """Return what follows for two nodes."""
        group = self._parts.group
        a, b = group[first], group[second]
        if a == b:
            return 1
        row = self._apart.rows.get(a)
        if row is not None and b in row:
            return -1
        return -1 if a in self._named and b in self._named else 0

    def link(self, first: int, second: int, relation: int) -> int:
        """Take in a fact that contradicts nothing; return how many pairs of images it settles."""
        a, b = self._parts.group[first], self._parts.group[second]
        if relation > 0:
            return self._merge(a, b) if a != b else 0
        sizes, named = self._apart.sizes, self._named
        is_new = self._apart.join(a, b) and not (a in named and b in named)
        return sizes.get(a, 1) * sizes.get(b, 1) if is_new else 0

    def unlink(self, edge: Edge, given: Given) -> None:
        """Forget a fact that is no longer among the `given` ones."""
        first, second, relation, _ = edge
        group = self._parts.group[first]
        if relation < 0:
            self._apart.part(group, self._parts.group[second])
        elif (side := cut_off(given, first, second, by_any=False)) is not None:
            self._split(group, side, given)

    def matrix(self, indexes: Indexes) -> Relations:
        """Return the relations of images with each other, (b, b)."""
        groups, where = np.unique(self._parts.view()[indexes], return_inverse=True)
        small = np.eye(len(groups), dtype=np.int8)
        place = {group: position for position, group in enumerate(groups.tolist())}
        rows = self._apart.rows
        known = [rows[g].keys() & place.keys() if g in rows else () for g in place]
        columns = np.fromiter(map(place.__getitem__, chain.from_iterable(known)), dtype=np.intp)
        small[np.repeat(np.arange(len(groups)), [len(row) for row in known]), columns] = -1
        named = np.fromiter((g in self._named for g in place), dtype=bool, count=len(place))
        small[np.outer(named, named) & ~np.eye(len(groups), dtype=bool)] = -1
        return small[np.ix_(where, where)]

    def pairs(self, pairs: Pairs) -> Relations:
        """Return the relation of each pair of images, (m,)."""
        first, second = self._parts.view()[pairs].T
        found: Relations = (first == second).astype(np.int8)
        rows, named = self._apart.rows, self._named
        open_ = np.flatnonzero(found == 0)
        if len(open_) > len(rows) + len(named):  # most groups are in no row: skip them at once
            is_busy = np.zeros(len(self._parts.group), dtype=bool)
            is_busy[list(rows.keys() | named.keys())] = True
            open_ = open_[is_busy[first[open_]] & is_busy[second[open_]]]
        empty: dict[int, int] = {}
        couples = zip(first[open_].tolist(), second[open_].tolist(), strict=True)
        is_apart = [b in rows.get(a, empty) or (a in named and b in named) for a, b in couples]
        found[open_[np.array(is_apart, dtype=bool)]] = Relation.DIFFERENT
        return found

    def groups(self) -> Indexes:
        """Return the group of each image, named by its first image, (n,)."""
        return self._first_images()[self._parts.view()[: self.n_images]]

    def apart(self) -> Pairs:
        """Return the pairs of groups that are different, each named by its first image."""
        rows, first = self._apart.rows, self._first_images()
        groups = np.fromiter(rows, dtype=np.intp, count=len(rows))
        left = np.repeat(groups, [len(row) for row in rows.values()])
        right = np.fromiter(chain.from_iterable(rows.values()), dtype=np.intp, count=len(left))
        names = np.fromiter(self._named, dtype=np.intp, count=len(self._named))
        name, other = np.triu_indices(len(names), 1)
        one, two = first[np.append(left, names[name])], first[np.append(right, names[other])]
        low, high = np.minimum(one, two), np.maximum(one, two)
        codes = np.unique((low * self.n_images + high)[high < self.n_images])
        return np.stack(np.divmod(codes, self.n_images), axis=1)

    def first_images(self, seats: Sequence[Seat]) -> list[int]:
        """Return the first image in the group of each name, `n_images` where there is none."""
        groups = [self._parts.group[node] for node, _ in seats]
        first: list[int] = self._first_images()[np.array(groups, dtype=np.intp)].tolist()
        return first

    def _first_images(self) -> Indexes:
        """Return the first image of each group, `n_images` where there is none."""
        first = np.full(len(self._parts.group), self.n_images, dtype=np.intp)
        backwards = np.arange(self.n_images - 1, -1, -1)
        first[self._parts.view()[backwards]] = backwards  # the last one written stays
        return first

    def _merge(self, a: int, b: int) -> int:
        """Make one group of two; return how many pairs of images this settles."""
        parts, apart, named = self._parts, self._apart, self._named
        if self._bulk(a) > self._bulk(b):
            a, b = b, a
        apart_a, apart_b = apart.weight(a), apart.weight(b)
        before = self._n_known(a, apart_a) + self._n_known(b, apart_b)
        size_a, size_b = apart.sizes.get(a, 1), apart.sizes.get(b, 1)
        if a in named or b in named:
            self._n_named += size_a if b in named else size_b
            named[b] = named.pop(a, named.get(b, -1))
        parts.absorb(b, a)
        n_shared = apart.absorb(b, a)
        apart.resize(a, 1)
        apart.resize(b, size_a + size_b)
        return self._n_known(b, apart_a + apart_b - n_shared) - before

    def _bulk(self, group: int) -> int:
        """Return how much there is to move if this group goes into another."""
        return len(self._parts.nodes(group)) + len(self._apart.rows.get(group, ()))

    def _n_known(self, group: int, n_apart: int) -> int:
        """Return how many pairs of images with at least one in `group` have a relation.

        Of `n_apart` images it was said, or follows, that they differ from it.
        """
        size = self._apart.sizes.get(group, 1)
        if group in self._named:  # differs from all others with names, some of them counted
            counted = self._apart.rows.get(group, {}).keys() & self._named.keys()
            n_apart += self._n_named - size
            n_apart -= sum(self._apart.sizes.get(other, 1) for other in counted)
        return size * (size - 1) // 2 + size * n_apart

    def _split(self, group: int, side: set[int], given: Given) -> None:
        """Part a group whose `side` is no longer tied to the rest."""
        parts, apart = self._parts, self._apart
        size, name = apart.sizes.get(group, 1), self._named.pop(group, None)
        rest, off = parts.split(group, side)
        if rest != group:
            apart.resize(rest, size)
            apart.absorb(rest, group)
            apart.resize(group, 1)
        for node in side:
            for first, second, relation, _ in given.of(node):
                if relation < 0:
                    other = parts.group[first + second - node]
                    apart.part(rest, other)
                    apart.join(off, other)
        n_side = len(side) - (name in side)
        apart.resize(rest, size - n_side)
        apart.resize(off, n_side)
        if name is not None:
            self._named[off if name in side else rest] = name
            self._n_named -= size - n_side if name in side else n_side
