"""The active constraints: those of all answers that contradict no earlier answer."""

from collections import defaultdict
from dataclasses import dataclass

from likewise.constraints.closure import Closure
from likewise.constraints.constraint import Constraint, GivenRelation
from likewise.constraints.explain import UNLIMITED, ChainSearch, Edge
from likewise.constraints.question import Relation

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
    retraction the log is replayed.

    Parameters
    ----------
    n_images : int
    two_groups : bool
    """

    def __init__(self, n_images: int, *, two_groups: bool) -> None:
        self._n_images, self._two_groups = n_images, two_groups
        self.closure = Closure(n_images, two_groups=two_groups)
        self.edges: defaultdict[int, list[Edge]] = defaultdict(list)  # node -> its edges
        self.conflicts: dict[int, Proof] = {}  # answer id -> proof
        self.names: dict[str, GroupName] = {}
        self._name_nodes: dict[str, int] = {}  # of names that an answer has used or tried to
        self._name_of_answer: dict[int, str] = {}  # of the answers to label questions
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
        n_settled = 0
        for edge in edges:
            first, second, relation, _ = edge
            self.edges[first].append(edge)
            self.edges[second].append(edge)
            n_settled += self.closure.link(first, second, relation)
        if isinstance(name, str) and name:
            image, node, relation, _ = edges[0]
            self._name_of_answer[answer_id] = name
            if name not in self.names:
                self.names[name] = GroupName(node, Relation(relation), answer_id, image)
        return n_settled, ()

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

    def _chain(self, first: int, second: int, relation: int) -> list[Edge]:
        """Return the shortest chain that proves a relation that holds."""
        best = self._chain_by_names(first, second) if relation < 0 else None
        limit = UNLIMITED if best is None else len(best)
        return self._search.shortest(first, second, relation, limit) or best or []

    def _chain_by_names(self, first: int, second: int) -> list[Edge] | None:
        """Return the shortest chain that shows that two components have different names."""
        name, other = self.closure.name_of(first), self.closure.name_of(second)
        if name is None or other is None or name == other:
            return None
        here = self._search.shortest(first, name, Relation.SAME)
        there = self._search.shortest(other, second, Relation.SAME)
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
            Constraint(answer_id, first, self._name_of_answer[answer_id], Relation.SAME)
            if second >= self._n_images
            else Constraint(answer_id, first, second, Relation(relation))
            for first, second, relation, answer_id in edges
        )
