"""Chains of facts: the shortest one, and none that is as long as the limit."""

import pytest
from likewise.constraints.given import FOREVER, Given

from likewise.constraints.explain import Chains
from likewise.constraints.question import Relation


def ladder() -> Given:
    """0 = 1 = 2 = 3, then 3 differs from 4."""
    given = Given()
    for node in range(3):
        given.add((node, node + 1, Relation.SAME, node))
    given.add((3, 4, Relation.DIFFERENT, 3))
    return given


@pytest.mark.parametrize(("second", "relation"), [(3, Relation.SAME), (4, Relation.DIFFERENT)])
@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, FOREVER])
def test_a_chain_is_found_if_it_is_shorter_than_the_limit(
    second: int, relation: Relation, limit: int
) -> None:
    found = Chains(ladder(), two_groups=False).shortest(0, second, relation, limit)
    chain = [edge[3] for edge in found] if found is not None else None
    assert chain == (list(range(second)) if second < limit else None)


def test_facts_of_later_answers_prove_nothing() -> None:
    chains = Chains(ladder(), two_groups=False, before=2)
    assert chains.shortest(0, 2, Relation.SAME) is not None
    assert chains.shortest(0, 3, Relation.SAME) is None
