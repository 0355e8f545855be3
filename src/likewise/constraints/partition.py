"""Nodes in groups: the group of a node is one look-up, the smaller group moves to the larger.

Arrays rather than objects for each node: a million images cost eight megabytes,
and NumPy sees the same memory.
"""

from array import array
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Self

import numpy as np

from likewise.constraints.relation import Indexes


class Partition:
    """Nodes ``0 .. n_nodes - 1``, each in one group; a group is named by one of its nodes."""

    def __init__(self, n_nodes: int) -> None:
        self.group = array("q")  # (n_nodes,) the group of each node
        self.group.frombytes(np.arange(n_nodes, dtype=np.int64).tobytes())
        self._nodes: dict[int, list[int]] = {}  # of groups of two and more

    def copy(self) -> Self:
        """Return one that can be changed alone."""
        twin = type(self)(0)
        twin.group = self.group[:]
        twin._nodes = {group: nodes[:] for group, nodes in self._nodes.items()}
        return twin

    def view(self) -> Indexes:
        """Return the group of each node; use it at once, it shares memory with `group`."""
        return np.frombuffer(self.group, dtype=np.int64)

    def add_node(self) -> int:
        """Add one node in a group of its own and return it."""
        node = len(self.group)
        self.group.append(node)
        return node

    def nodes(self, group: int) -> Sequence[int]:
        """Return the nodes of a group."""
        return self._nodes.get(group) or (group,)

    def absorb(self, kept: int, gone: int) -> None:
        """Move the nodes of the group `gone` into `kept`."""
        moved = self.nodes(gone)
        for node in moved:
            self.group[node] = kept
        self._nodes.setdefault(kept, [kept]).extend(moved)
        self._nodes.pop(gone, None)

    def split(self, group: int, side: AbstractSet[int]) -> tuple[int, int]:
        """Part a group in two and return the names of the rest and of `side`.

        The part that holds the node `group` keeps that name.
        """
        rest = [node for node in self._nodes.pop(group) if node not in side]
        names = (rest[0], group) if group in side else (group, next(iter(side)))
        for name, nodes in zip(names, (rest, list(side)), strict=True):
            if name != group:
                for node in nodes:
                    self.group[node] = name
            if len(nodes) > 1:
                self._nodes[name] = nodes
        return names
