"""Active constraints (of answers that contradict no earlier one), and the proofs of relations."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.constraints.answers import LazyMap
from likewise.constraints.closure import Closure
from likewise.constraints.constraint import Constraint, GivenRelation
from likewise.constraints.question import Relation
from likewise.types import Indexes

Edge = tuple[int, int, int, int]  # first node, second node, relation, answer id
Column = npt.NDArray[np.integer[Any]]
Trail = dict[int, tuple[int, Edge] | None]  # state -> the state before it and the edge between
UNLIMITED = sys.maxsize


class Edges(dict[int, list[Edge]]):
    """The edges at each node, in the order they were added.

    Edges that are added at once are kept as arrays; those at a node are made when it is first
    looked at.
    """

    def __init__(self) -> None:
        super().__init__()
        self._columns: tuple[Column, ...] = ()
        self._order, self._starts = np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
        self._is_sorted = True

    def __missing__(self, node: int) -> list[Edge]:
        if not self._is_sorted:
            self._sort()
        edges: list[Edge] = []
        if node + 1 < len(self._starts):
            here = self._order[self._starts[node] : self._starts[node + 1]]
            edges = list(zip(*(column[here].tolist() for column in self._columns), strict=True))
        self[node] = edges
        return edges

    def add_first(self, *columns: Column) -> None:
        """Add the first edges: both nodes, relation and answer id of each."""
        self._columns, self._is_sorted = columns, False

    def _sort(self) -> None:
        """Sort the first edges by node; at each node they stay in their order."""
        ends = np.stack(self._columns[:2], axis=1).ravel()
        self._order = (np.argsort(ends, kind="stable") // 2).astype(np.int32)
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(ends))])
        self._is_sorted = True

    def append(self, edge: Edge) -> None:
        """Add an edge."""
        self[edge[0]].append(edge)
        self[edge[1]].append(edge)


class ChainSearch:
    """Breadth-first search from both ends for the shortest chain that proves a relation.

    A chain proves ``SAME`` if all its constraints are must-links, and ``DIFFERENT`` if exactly
    one is a cannot-link; with two groups only, an even or odd number of cannot-links counts.
    So the search runs over states: a node, and whether a cannot-link was crossed, encoded as
    ``2 * node + crossed``.

    Parameters
    ----------
    edges : Edges
        They may become more later.
    two_groups : bool
        Whether different from different is the same.
    is_linked : callable
        Whether two nodes are in one component. A chain contains one cannot-link,
        so it may only cross into the component where it ends; this prunes others.
    """

    def __init__(
        self,
        edges: Edges,
        two_groups: bool,
        is_linked: Callable[[int, int], bool],
    ) -> None:
        self._edges, self._two_groups, self._is_linked = edges, two_groups, is_linked

    def shortest(
        self,
        first: int,
        second: int,
        relation: int,
        limit: int = UNLIMITED,
        before: int = UNLIMITED,
    ) -> list[Edge] | None:
        """Return a shortest chain that proves `relation`, or None if there is none.

        Parameters
        ----------
        first, second, relation : int
        limit : int
            The chain must be shorter.
        before : int
            Only answers with lower ids are used.
        """
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
                front = self._step(front, ahead, crossings[0], second, before)
                meeting = next((state for state in front if state in back), None)
            else:
                rear = self._step(rear, back, crossings[1], first, before)
                meeting = next((state for state in rear if state in ahead), None)
            if meeting is not None:
                return _trace(ahead, meeting)[::-1] + _trace(back, meeting)
            length += 1
        return None

    def _step(
        self, frontier: list[int], trail: Trail, crossing: int, goal: int, before: int
    ) -> list[int]:
        """Follow one edge from every state of `frontier`; return the states new to `trail`."""
        found = []
        for state in frontier:
            node, crossed = state >> 1, state & 1
            for edge in self._edges[node]:
                first, second, relation, number = edge
                if number >= before:  # as are the further ones
                    break
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
        return sum([len(self._edges[state >> 1]) for state in frontier])


def _trace(trail: Trail, state: int) -> list[Edge]:
    """Return the edges from `state` back to the start of the trail."""
    edges = []
    while (step := trail[state]) is not None:
        state, edge = step
        edges.append(edge)
    return edges


Proof = tuple[Constraint, ...]


@dataclass(frozen=True)
class GroupName:
    """How a group name is represented in the closure, and the answer that introduced it.

    With two groups, one node is enough: the first name means SAME as the node,
    the second DIFFERENT from it, and a third cannot be represented.
    """

    node: int
    relation: Relation
    answer_id: int
    image: int


class ActiveConstraints:
    """Active constraints with their closure, and the conflicts with their proofs.

    Answers are added in the order of the log and never removed: after a
    retraction the log is replayed, see `likewise.constraints.bulk_replay`.

    Parameters
    ----------
    n_images : int
    two_groups : bool
    """

    def __init__(self, n_images: int, *, two_groups: bool) -> None:
        self._n_images, self._two_groups = n_images, two_groups
        self.closure: Closure = Closure(n_images, two_groups=two_groups)
        self.edges: Edges = Edges()
        self.conflicts: LazyMap[Proof] = LazyMap(self._proof_of_conflict)  # by answer id
        self._contradicted: dict[int, Edge] = {}  # of conflicts whose proof is not made yet
        self.excluded: dict[int, tuple[int, ...]] = {}  # of a grid that is a conflict: its images
        self.names: dict[str, GroupName] = {}
        self._name_nodes: dict[str, int] = {}  # of names that an answer has used or tried to
        self.name_of_answer: dict[int, str] = {}  # of the accepted answers to label questions
        self._search = ChainSearch(self.edges, two_groups, self.closure.is_linked)

    def add(
        self, answer_id: int, relations: list[GivenRelation], known_proof: Proof = ()
    ) -> tuple[int, Proof]:
        """Add all relations stated by one answer, or record the answer as a conflict.

        Parameters
        ----------
        answer_id : int
        relations : list of tuple
        known_proof : tuple of Constraint
            Active constraints that are known to contradict the answer, if any.

        Returns
        -------
        n_settled : int
        proof : tuple of Constraint
            Empty if accepted; otherwise earlier constraints that contradict the answer.
        """
        name = relations[0][1] if relations else ""
        edges = self._edges(answer_id, relations)
        if known_proof:
            proof = known_proof
        elif edges is None:
            proof = self._proof_against_third_name(relations[0][0])
        else:
            proof = self._proof_against(edges)
        if proof or edges is None:
            self.conflicts[answer_id] = proof
            return 0, proof
        n_settled = self._link(edges)
        if isinstance(name, str) and name:
            self.use_name(name, answer_id, edges[0][0])
        return n_settled, ()

    def use_name(self, name: str, answer_id: int, image: int) -> None:
        """Record that an accepted answer gives an image a name."""
        self.name_of_answer[answer_id] = name
        if name not in self.names:
            node = self._node_of_name(name)
            assert node is not None  # the answer was accepted
            self.names[name] = GroupName(*node, answer_id, image)

    def add_consistent(
        self, components: Indexes, first: Indexes, second: Indexes, relation: Column, ids: Column
    ) -> None:
        """Add the first relations, which do not contradict each other.

        Parameters
        ----------
        components : array of shape (n_nodes,)
            The component of each node; those after the images are the names in use.
        first, second, relation, ids : array of shape (m,)
            Both nodes and the relation, and the answer that states it.
        """
        self.closure.set_components(components, first[relation < 0], second[relation < 0])
        self.edges.add_first(first, second, relation, ids)

    def add_conflict(self, edge: Edge) -> None:
        """Record an answer to a pair that contradicts earlier ones; its proof is made later."""
        self._contradicted[edge[3]] = edge
        self.conflicts.add(edge[3])

    def _proof_of_conflict(self, answer_id: int) -> Proof:
        first, second, relation, _ = self._contradicted.pop(answer_id)
        return self._constraints(self._chain(first, second, -relation, before=answer_id))

    def add_grid(self, answer_id: int, relations: list[GivenRelation]) -> tuple[int, Proof]:
        """Add the relations of a grid that contradict neither earlier answers nor each other.

        Returns
        -------
        n_settled : int
        proof : tuple of Constraint
            Empty if all were added; otherwise why one of the others was not.

        Notes
        -----
        Two relations of a grid contradict each other if earlier answers relate their images
        otherwise. The one with the most contradictions is left out first, and both of two that
        contradict only each other, because nothing shows which of them is wrong. So the result
        does not depend on the order of the images.
        """
        edges = self._edges(answer_id, relations) or []
        kept, proof = self._consistent_with_closure(edges)
        kept, second_proof = self._consistent_with_each_other(kept)
        if proof or second_proof:
            self.conflicts[answer_id] = proof or second_proof
            left_out = [edge[1] for edge in edges if edge not in kept]
            self.excluded[answer_id] = tuple(left_out)
        return self._link(kept), proof or second_proof

    def _consistent_with_closure(self, edges: list[Edge]) -> tuple[list[Edge], Proof]:
        """Return the edges that contradict no earlier answer, and the proof against one other."""
        wrong = [edge for edge in edges if self.closure.relation(edge[0], edge[1]) == -edge[2]]
        if not wrong:
            return edges, ()
        first, second, relation, _ = wrong[0]
        proof = self._constraints(self._chain(first, second, -relation))
        return [edge for edge in edges if edge not in wrong], proof

    def _consistent_with_each_other(self, edges: list[Edge]) -> tuple[list[Edge], Proof]:
        """Return edges of a grid that do not contradict each other, and a proof against others."""
        images = np.array([edge[1] for edge in edges], dtype=np.intp)
        relations = np.array([edge[2] for edge in edges], dtype=np.int8)
        implied = np.outer(relations, relations)
        if not self._two_groups:
            implied[np.ix_(relations < 0, relations < 0)] = 0  # that implies nothing
        is_wrong = (self.closure.matrix(images) == -implied) & (implied != 0)
        np.fill_diagonal(is_wrong, val=False)
        if not is_wrong.any():
            return edges, ()
        row, column = np.argwhere(is_wrong)[0].tolist()
        chain = self._chain(edges[row][1], edges[column][1], -int(implied[row, column]))
        while is_wrong.any():
            n_wrong = is_wrong.sum(axis=1)
            left_out = n_wrong == n_wrong.max()
            is_wrong[left_out], is_wrong[:, left_out], relations[left_out] = False, False, 0
        return [edge for edge, kept in zip(edges, relations, strict=True) if kept], (
            self._constraints(chain)
        )

    def _link(self, edges: list[Edge]) -> int:
        """Add edges that contradict nothing; return how many pairs of images that settled."""
        n_settled = 0
        for edge in edges:
            first, second, relation, _ = edge
            self.edges.append(edge)
            n_settled += self.closure.link(first, second, relation)
        return n_settled

    def proof(self, first: int, second: int) -> Proof:
        """Return the shortest chain of constraints behind the relation of two images."""
        relation = self.closure.relation(first, second)
        return self._constraints(self._chain(first, second, relation)) if relation else ()

    def _edges(self, answer_id: int, relations: list[GivenRelation]) -> list[Edge] | None:
        """Return relations as edges; None for a third name if there are two groups."""
        edges: list[Edge] = []
        for first, second, relation in relations:
            if isinstance(second, str):
                name = self._node_of_name(second)
                if name is None:
                    return None
                edges.append((first, *name, answer_id))
            else:
                edges.append((first, second, relation, answer_id))
        return edges

    def _node_of_name(self, name: str) -> tuple[int, Relation] | None:
        """Return the node of a name and the relation of its group to it; None for a third name."""
        if name in self.names:
            known = self.names[name]
            return known.node, known.relation
        if self._two_groups and self.names:
            first = next(iter(self.names.values()))
            return (first.node, Relation.DIFFERENT) if len(self.names) == 1 else None
        if name not in self._name_nodes:
            self._name_nodes[name] = self.closure.add_name()
        return self._name_nodes[name], Relation.SAME

    def _proof_against(self, edges: list[Edge]) -> Proof:
        """Return the constraints that contradict one answer, empty if there are none.

        All edges start at the image asked about. Each may contradict the
        closure alone, or together with an earlier edge of the same answer.
        """
        for position, (first, second, relation, _) in enumerate(edges):
            chains = []
            if self.closure.relation(first, second) == -relation:
                chains.append(self._chain(first, second, -relation))
            for _, other, other_relation, _ in edges[:position]:
                implied = other_relation * relation
                if implied > 0 and relation < 0 and not self._two_groups:
                    continue  # both differ from the image: that implies nothing
                if self.closure.relation(other, second) == -implied:
                    chains.append(self._chain(other, second, -implied))
            if chains:
                return self._constraints(min(chains, key=len))
        return ()

    def _chain(self, first: int, second: int, relation: int, before: int = UNLIMITED) -> list[Edge]:
        """Return the shortest chain that proves a relation that holds."""
        best = self._chain_by_names(first, second, before) if relation < 0 else None
        limit = UNLIMITED if best is None else len(best)
        return self._search.shortest(first, second, relation, limit, before) or best or []

    def _chain_by_names(self, first: int, second: int, before: int) -> list[Edge] | None:
        """Return the shortest chain that shows that two components have different names."""
        name, other = self.closure.name_of(first), self.closure.name_of(second)
        if name is None or other is None or name == other:
            return None
        here = self._search.shortest(first, name, Relation.SAME, before=before)
        there = self._search.shortest(other, second, Relation.SAME, before=before)
        return None if here is None or there is None else here + there

    def _proof_against_third_name(self, image: int) -> Proof:
        """Return why `image` cannot get a third name: it has one, or both are in use."""
        node = next(iter(self.names.values())).node
        relation = self.closure.relation(image, node)
        if relation:
            chain = self._chain(image, node, relation)
            if len(chain) <= 2 and all(edge[2] > 0 for edge in chain[:-1]):
                return self._constraints(chain)
        return tuple(
            Constraint(use.answer_id, use.image, name, Relation.SAME)
            for name, use in self.names.items()
        )

    def _constraints(self, edges: list[Edge]) -> Proof:
        """Return edges as constraints."""
        return tuple(
            Constraint(answer_id, first, self.name_of_answer[answer_id], Relation.SAME)
            if second >= self._n_images
            else Constraint(answer_id, first, second, Relation(relation))
            for first, second, relation, answer_id in edges
        )
