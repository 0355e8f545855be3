"""The answers that stand and all that follows from them; it never holds a contradiction."""

from likewise.constraints.closure import Closure
from likewise.constraints.facts import Fact, Said
from likewise.constraints.given import FOREVER, Edge, Given
from likewise.constraints.names import Names
from likewise.constraints.parity import ParityClosure
from likewise.constraints.relation import Relation
from likewise.constraints.search import Chains


class Standing:
    """Facts that stand, taken in and withdrawn one answer at a time.

    Parameters
    ----------
    n_images : int
    two_groups : bool
    """

    def __init__(self, n_images: int, *, two_groups: bool) -> None:
        self._n_images, self._two_groups = n_images, two_groups
        self.closure: Closure | ParityClosure = (
            ParityClosure(n_images) if two_groups else Closure(n_images)
        )
        self.given = Given()
        self.names = Names(self.closure.add_name, two_groups=two_groups)

    def take_in(self, answer_id: int, facts: list[Said]) -> tuple[int, tuple[Fact, ...]]:
        """Take in all the facts of one answer, or none.

        Returns
        -------
        n_settled : int
        proof : tuple of Fact
            Empty if taken in; else earlier facts that contradict the answer.
        """
        edges = self._edges(answer_id, facts)
        if edges is None:
            return 0, self._no_third_name(facts[0][0])
        n_settled = 0
        for position, edge in enumerate(edges):
            first, second, relation, _ = edge
            if self.closure.relation(first, second) == -relation:
                chain = self._chain(first, second, -relation)
                self._remove(edges[:position])
                return 0, self._facts(chain or [], but=answer_id)
            self.given.add(edge)
            n_settled += self.closure.link(first, second, relation)
        if facts and isinstance(facts[0][1], str):  # a label, which says one thing only
            self.names.use(facts[0][1], edges[0][1:3], answer_id, facts[0][0])
        return n_settled, ()

    def withdraw(self, answer_id: int, facts: list[Said]) -> None:
        """Forget an answer that stands."""
        self._remove(self._edges(answer_id, facts) or [])
        if answer_id in self.names.called:
            self.names.disuse(answer_id)

    def objection(self, answer_id: int, facts: list[Said]) -> tuple[Fact, ...]:
        """Return facts given before an answer that contradict it, empty if there are none."""
        edges, added, chain = self._edges(answer_id, facts, answer_id), [], None
        if edges is None:
            return self._no_third_name(facts[0][0], answer_id)
        for edge in edges:
            first, second, relation, _ = edge
            chain = self._chain(first, second, -relation, before=answer_id + 1)
            if chain is not None:
                break
            self.given.add(edge)
            added.append(edge)
        for edge in added:
            self.given.remove(edge)
        return self._facts(chain or [], but=answer_id)

    def proof(self, first: int, second: int) -> tuple[Fact, ...]:
        """Return the shortest chain of given facts behind what is known of two images."""
        relation = self.closure.relation(first, second)
        return self._facts(self._chain(first, second, relation) or []) if relation else ()

    def _edges(self, answer_id: int, facts: list[Said], before: int = FOREVER) -> list[Edge] | None:
        """Return facts as edges; None for a third name where there are two groups."""
        edges: list[Edge] = []
        for first, second, relation in facts:
            if isinstance(second, str):
                seat = self.names.seat(second, before)
                if seat is None:
                    return None
                edges.append((first, *seat, answer_id))
            else:
                edges.append((first, second, relation, answer_id))
        return edges

    def _remove(self, edges: list[Edge]) -> None:
        """Take edges out of what is given, and what followed from them out of the closure."""
        for edge in edges:
            self.given.remove(edge)
            self.closure.unlink(edge, self.given)

    def _chain(
        self, first: int, second: int, relation: int, before: int = FOREVER
    ) -> list[Edge] | None:
        """Return the shortest chain that proves `relation` by answers with ids below `before`."""
        # an answer that is only looked at is given for the moment, but not in the closure
        is_tied = self.closure.is_tied if before == FOREVER else None
        chains = Chains(self.given, self._two_groups, is_tied, before)
        best = self._chain_by_names(chains, first, second) if relation < 0 else None
        limit = FOREVER if best is None else len(best)
        return chains.shortest(first, second, relation, limit) or best

    def _chain_by_names(self, chains: Chains, first: int, second: int) -> list[Edge] | None:
        """Return the shortest chain that shows two groups to have different names."""
        name, other = self.closure.name_of(first), self.closure.name_of(second)
        if name is None or other is None or name == other:
            return None
        here = chains.shortest(first, name, Relation.SAME)
        there = chains.shortest(other, second, Relation.SAME)
        return None if here is None or there is None else here + there

    def _no_third_name(self, image: int, before: int = FOREVER) -> tuple[Fact, ...]:
        """Return why `image` cannot be called by a third name: it has one, or both are in use."""
        users, (node, _) = self.names.users, next(iter(self.names.seats.values()))
        relation = self.closure.relation(image, node)
        chain = self._chain(image, node, relation, before) if relation else None
        if chain is not None and len(chain) <= 2 and all(edge[2] > 0 for edge in chain[:-1]):
            return self._facts(chain)
        firsts = sorted((min(images), name) for name, images in users.items())
        return tuple(Fact(use, users[name][use], name, Relation.SAME) for use, name in firsts)

    def _facts(self, edges: list[Edge], but: int = -1) -> tuple[Fact, ...]:
        """Return edges as facts, without those of the answer `but`."""
        return tuple(
            Fact(answer_id, first, self.names.called[answer_id], Relation.SAME)
            if second >= self._n_images
            else Fact(answer_id, first, second, Relation(relation))
            for first, second, relation, answer_id in edges
            if answer_id != but
        )
