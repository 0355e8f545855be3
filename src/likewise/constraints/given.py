"""The facts of the answers that stand, as edges between nodes.

A node below `n_images` is an image; the others stand for names of groups.
"""

import sys
from collections.abc import Sequence

Edge = tuple[int, int, int, int]  # first node, second node, relation, answer id
Seat = tuple[int, int]  # the node of a name, and how an image of that group relates to it
FOREVER = sys.maxsize  # later than any answer


class Given:
    """Edges by node; two nodes may share several."""

    def __init__(self) -> None:
        self.edges: dict[int, list[Edge]] = {}

    def of(self, node: int) -> Sequence[Edge]:
        """Return the edges at a node."""
        return self.edges.get(node, ())

    def add(self, edge: Edge) -> None:
        """Put one edge in."""
        edges, first, second = self.edges, edge[0], edge[1]
        if first in edges:
            edges[first].append(edge)
        else:
            edges[first] = [edge]
        if second in edges:
            edges[second].append(edge)
        else:
            edges[second] = [edge]

    def remove(self, edge: Edge) -> None:
        """Take one edge out."""
        for node in edge[:2]:
            self.edges[node].remove(edge)
            if not self.edges[node]:
                del self.edges[node]
