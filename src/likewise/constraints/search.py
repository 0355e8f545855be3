"""Two searches along given facts, both from two ends at once: why, and whether still tied.

A chain proves ``SAME`` if all its facts do, and ``DIFFERENT`` if exactly one
fact says so; with two groups an even or odd number of them counts. So a state
is a node and whether a difference was met, written ``2 * node + met``.
"""

from collections.abc import Callable
from dataclasses import dataclass

from likewise.constraints.given import FOREVER, Edge, Given
from likewise.constraints.relation import Relation

Trail = dict[int, tuple[int, Edge] | None]  # state -> the state before it and the edge between


@dataclass(frozen=True)
class Chains:
    """The shortest chains of facts that were given before a certain answer.

    Parameters
    ----------
    given : Given
    two_groups : bool
        Whether different from different is the same.
    is_tied : callable, optional
        Whether two nodes are in one group. A chain has one difference, so it
        need only cross into the group where it ends; this saves the others.
    before : int
        Only facts of answers with a smaller id are used.
    """

    given: Given
    two_groups: bool
    is_tied: Callable[[int, int], bool] | None = None
    before: int = FOREVER

    def shortest(
        self, first: int, second: int, relation: int, limit: int = FOREVER
    ) -> list[Edge] | None:
        """Return a shortest chain that proves `relation`, or None if none is below `limit`."""
        met = int(relation == Relation.DIFFERENT)
        ahead: Trail = {2 * first: None}
        back: Trail = {2 * second + met: None}
        if first == second and not met:
            return []
        # Ahead a difference may come in state 0, back in state 1: once, unless parity counts.
        turns = (0, 1) if met else (-1, -1)
        front, rear, length = list(ahead), list(back), 1
        while front and rear and length < limit:
            if self._n_edges(front) <= self._n_edges(rear):
                front = self._step(front, ahead, turns[0], second)
                meeting = next((state for state in front if state in back), None)
            else:
                rear = self._step(rear, back, turns[1], first)
                meeting = next((state for state in rear if state in ahead), None)
            if meeting is not None:
                return _trace(ahead, meeting)[::-1] + _trace(back, meeting)
            length += 1
        return None

    def _step(self, frontier: list[int], trail: Trail, turn: int, goal: int) -> list[int]:
        """Go one edge further from every state of `frontier`; return the states new to `trail`."""
        found = []
        for state in frontier:
            node, met = state >> 1, state & 1
            for edge in self.given.of(node):
                first, second, relation, answer_id = edge
                other = first + second - node
                if answer_id >= self.before:
                    continue
                if relation > 0:
                    after = 2 * other + met
                elif self.two_groups or (met == turn and self._may_cross(other, goal)):
                    after = 2 * other + 1 - met
                else:
                    continue
                if after not in trail:
                    trail[after] = (state, edge)
                    found.append(after)
        return found

    def _n_edges(self, frontier: list[int]) -> int:
        """Return how many edges the next step would look at."""
        return sum([len(self.given.of(state >> 1)) for state in frontier])

    def _may_cross(self, node: int, goal: int) -> bool:
        """Return whether a difference that leads to `node` can be on a chain to `goal`."""
        return self.is_tied is None or self.is_tied(node, goal)


def _trace(trail: Trail, state: int) -> list[Edge]:
    """Return the edges from `state` back to where the trail began."""
    edges = []
    while (step := trail[state]) is not None:
        state, edge = step
        edges.append(edge)
    return edges


def cut_off(given: Given, first: int, second: int, *, by_any: bool) -> set[int] | None:
    """Return the nodes on the side that is found first, or None if still tied together.

    Parameters
    ----------
    by_any : bool
        Whether every edge ties; else only ``SAME`` does.
    """
    seen, fronts = ({first}, {second}), [[first], [second]]
    costs = [len(given.of(first)), len(given.of(second))]  # edges looked at, with the next step
    while True:
        turn = int(costs[1] < costs[0])
        found = _spread(given, fronts[turn], seen[turn], by_any=by_any)
        if not seen[1 - turn].isdisjoint(found):
            return None
        if not found:
            return seen[turn]
        fronts[turn] = found
        costs[turn] += sum([len(given.of(node)) for node in found])


def _spread(given: Given, frontier: list[int], seen: set[int], *, by_any: bool) -> list[int]:
    """Go one tie further from every node of `frontier`; return the nodes new to `seen`."""
    found = []
    for node in frontier:
        for first, second, relation, _ in given.of(node):
            other = first + second - node
            if (by_any or relation > 0) and other not in seen:
                seen.add(other)
                found.append(other)
    return found
