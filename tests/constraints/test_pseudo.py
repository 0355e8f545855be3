"""Pseudo-links: added to the closure of the answers, never against them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from tests.constraints.naive import Naive, NaiveConstraint

N = 6
SAME, DIFFERENT, UNKNOWN = Relation.SAME, Relation.DIFFERENT, Relation.UNKNOWN
Event = tuple[str, int, int, Relation]

events = st.lists(
    st.builds(
        lambda what, pair, relation: (what, *sorted(pair[:2]), relation),
        st.sampled_from(["tell", "pseudo", "pseudo", "retract"]),
        st.permutations(range(N)),
        st.sampled_from([SAME, DIFFERENT]),
    ),
    max_size=20,
)


@pytest.mark.slow
@pytest.mark.parametrize("two_groups", [False, True])
@settings(max_examples=100, deadline=None)
@given(script=events)
def test_pseudo_links_extend_the_answers_in_their_order(
    two_groups: bool, script: list[Event]
) -> None:
    graph, naive = ConstraintGraph(N, two_groups=two_groups), Naive(N, two_groups=two_groups)
    links: dict[tuple[int, int], Relation] = {}
    for what, i, j, relation in script:
        if what == "tell":
            n_known = np.count_nonzero(naive.relations)
            result = graph.add(i, j, relation)
        elif what == "pseudo":
            graph.add_pseudo(j, i, relation)
            links.pop((i, j), None)
            links[i, j] = relation
        elif graph.answers:
            graph.retract(list(graph.answers)[i % len(graph.answers)])
        naive.answers = dict(graph.answers)
        naive.replay()
        if what == "tell":  # pseudo-links do not count
            assert result.n_settled == (np.count_nonzero(naive.relations) - n_known) // 2
        constraints: list[NaiveConstraint] = naive.constraints(naive.active)
        for (first, second), link in links.items():
            if not naive.contradict([*constraints, (first, second, int(link))]):
                constraints.append((first, second, int(link)))
        same, different = naive.close(constraints)
        expected = same.astype(np.int8) - different.astype(np.int8)
        pairs = np.array(list(itertools.product(range(N), repeat=2)))
        np.testing.assert_array_equal(graph.pair_relations(pairs, pseudo=True), expected.ravel())
        np.testing.assert_array_equal(graph.relations(range(N), pseudo=True), expected - np.eye(N))
        np.testing.assert_array_equal(graph.pair_relations(pairs), naive.relations.ravel())


def test_a_pseudo_link_is_never_known_and_never_a_conflict() -> None:
    graph = ConstraintGraph(5)
    graph.add_pseudo(0, 1, SAME)
    assert graph.relation(0, 1) is UNKNOWN
    assert graph.pair_relations([(0, 1)])[0] == UNKNOWN
    assert graph.add(0, 1, DIFFERENT).accepted
    assert graph.pair_relations([(0, 1)], pseudo=True)[0] == DIFFERENT
    graph.retract(0)
    assert graph.pair_relations([(0, 1)], pseudo=True)[0] == SAME


def test_pseudo_links_can_be_removed_one_by_one_or_all() -> None:
    graph = ConstraintGraph(5)
    graph.add(0, 1, SAME)
    graph.add_pseudo(1, 2, SAME)
    graph.add_pseudo(2, 3, DIFFERENT)
    assert graph.relations([0, 3], pseudo=True)[0, 1] == DIFFERENT
    graph.add_pseudo(2, 1, UNKNOWN)
    assert graph.relations([0, 3], pseudo=True)[0, 1] == UNKNOWN
    assert graph.relations([1, 2], pseudo=True)[0, 1] == UNKNOWN
    assert graph.relations([2, 3], pseudo=True)[0, 1] == DIFFERENT
    graph.clear_pseudo()
    assert graph.relations([2, 3], pseudo=True)[0, 1] == UNKNOWN
    assert graph.relations([0, 1], pseudo=True)[0, 1] == SAME
