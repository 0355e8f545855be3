"""Shortest chains of constraints that prove the relation of two nodes.

A chain proves ``SAME`` if all its constraints are must-links, and ``DIFFERENT``
if exactly one is a cannot-link; with two groups only, an even or odd number of
cannot-links counts. So the search runs over states: a node, and whether a
cannot-link was crossed, encoded as ``2 * node + crossed``.
"""

import sys
from collections.abc import Callable, Sequence

from likewise.constraints.question import Relation

Edge = tuple[int, int, int, int]  # first node, second node, relation, answer id
Trail = dict[int, tuple[int, Edge] | None]  # state -> the state before it and the edge between
UNLIMITED = sys.maxsize


class ConstraintEdges:
    """The active constraints as edges between nodes; two nodes may share several."""

    def __init__(self) -> None:
        self._edges: dict[int, list[Edge]] = {}

    def __contains__(self, node: int) -> bool:
        return node in self._edges

    def at(self, node: int) -> Sequence[Edge]:
        """Return the edges at a node."""
        return self._edges.get(node, ())

    def add(self, edge: Edge) -> None:
        """Add one edge."""
        edges = self._edges
        for node in edge[:2]:
            if node in edges:
                edges[node].append(edge)
            else:
                edges[node] = [edge]


class ChainSearch:
    """Breadth-first search from both ends for the shortest chain.

    Parameters
    ----------
    edges : ConstraintEdges
    two_groups : bool
        Whether different from different is the same.
    is_linked : callable
        Whether two nodes are in one component. A chain contains one cannot-link,
        so it may only cross into the component where it ends; this prunes others.
    """

    def __init__(
        self, edges: ConstraintEdges, two_groups: bool, is_linked: Callable[[int, int], bool]
    ) -> None:
        self._edges, self._two_groups, self._is_linked = edges, two_groups, is_linked

    def shortest(
        self, first: int, second: int, relation: int, limit: int = UNLIMITED
    ) -> list[Edge] | None:
        """Return a shortest chain that proves `relation`, or None if none is below `limit`."""
        crossed = int(relation == Relation.DIFFERENT)
        ahead: Trail = {2 * first: None}
        back: Trail = {2 * second + crossed: None}
        if first == second and not crossed:
            return []
        # From the first node a cannot-link may be crossed in state 0, from the second in state 1.
        crossings = (0, 1) if crossed else (-1, -1)
        front, rear, length = list(ahead), list(back), 1
        while front and rear and length < limit:
            if self._n_edges(front) <= self._n_edges(rear):
                front = self._step(front, ahead, crossings[0], second)
                meeting = next((state for state in front if state in back), None)
            else:
                rear = self._step(rear, back, crossings[1], first)
                meeting = next((state for state in rear if state in ahead), None)
            if meeting is not None:
                return _trace(ahead, meeting)[::-1] + _trace(back, meeting)
            length += 1
        return None

    def _step(self, frontier: list[int], trail: Trail, crossing: int, goal: int) -> list[int]:
        """Follow one edge from every state of `frontier`; return the states new to `trail`."""
        found = []
        for state in frontier:
            node, crossed = state >> 1, state & 1
            for edge in self._edges.at(node):
                first, second, relation, _ = edge
                other = first + second - node
                if relation > 0:
                    after = 2 * other + crossed
                elif self._two_groups or (crossed == crossing and self._is_linked(other, goal)):
                    after = 2 * other + 1 - crossed
                else:
                    continue
                if after not in trail:
                    trail[after] = (state, edge)
                    found.append(after)
        return found

    def _n_edges(self, frontier: list[int]) -> int:
        """Return how many edges the next step would look at."""
        return sum([len(self._edges.at(state >> 1)) for state in frontier])


def _trace(trail: Trail, state: int) -> list[Edge]:
    """Return the edges from `state` back to the start of the trail."""
    edges = []
    while (step := trail[state]) is not None:
        state, edge = step
        edges.append(edge)
    return edges
