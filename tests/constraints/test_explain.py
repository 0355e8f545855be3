"""Chains of constraints: the shortest one, and none that is as long as the limit."""

import pytest

from likewise.constraints.active import UNLIMITED, ChainSearch, Edge, Edges
from likewise.constraints.question import Relation


def edges_of(*edges: Edge) -> Edges:
    """The edges at each node."""
    found = Edges()
    for edge in edges:
        found.append(edge)
    return found


def path(*more: Edge) -> Edges:
    """0 = 1 = 2 = 3, then 3 differs from 4."""
    links = [(node, node + 1, int(Relation.SAME), node) for node in range(3)]
    return edges_of(*links, (3, 4, int(Relation.DIFFERENT), 3), *more)


def is_linked(first: int, second: int) -> bool:
    """Whether both are among 0 to 3, or the same node."""
    return first == second or max(first, second) < 4


@pytest.mark.parametrize(("second", "relation"), [(3, Relation.SAME), (4, Relation.DIFFERENT)])
@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, UNLIMITED])
def test_a_chain_is_found_if_it_is_shorter_than_the_limit(
    second: int, relation: Relation, limit: int
) -> None:
    found = ChainSearch(path(), False, is_linked).shortest(0, second, relation, limit)
    chain = [edge[3] for edge in found] if found is not None else None
    assert chain == (list(range(second)) if second < limit else None)


def test_a_relation_that_does_not_hold_has_no_chain() -> None:
    search = ChainSearch(path(), False, is_linked)
    assert search.shortest(0, 3, Relation.DIFFERENT) is None
    assert search.shortest(0, 4, Relation.SAME) is None


def test_with_two_groups_an_even_number_of_cannot_links_is_a_must_link() -> None:
    edges = path((4, 5, int(Relation.DIFFERENT), 4))
    assert ChainSearch(edges, False, is_linked).shortest(3, 5, Relation.SAME) is None
    chain = ChainSearch(edges, True, is_linked).shortest(3, 5, Relation.SAME)
    assert chain is not None
    assert [edge[3] for edge in chain] == [3, 4]


@pytest.mark.parametrize("before", [2, 3, UNLIMITED])
def test_only_answers_before_an_id_are_used(before: int) -> None:
    found = ChainSearch(path(), False, is_linked).shortest(0, 3, Relation.SAME, before=before)
    assert (found is not None) == (before > 2)
