"""The layer of guesses: on top of the answers, closed with them, never against them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from tests.constraints.naive import Naive, NaiveFact

N = 6
SAME, DIFFERENT, UNKNOWN = Relation.SAME, Relation.DIFFERENT, Relation.UNKNOWN
Event = tuple[str, int, int, Relation]

events = st.lists(
    st.builds(
        lambda what, pair, relation: (what, *sorted(pair[:2]), relation),
        st.sampled_from(["tell", "guess", "guess", "retract"]),
        st.permutations(range(N)),
        st.sampled_from([SAME, DIFFERENT]),
    ),
    max_size=20,
)


@pytest.mark.slow
@pytest.mark.parametrize("two_groups", [False, True])
@settings(max_examples=100, deadline=None)
@given(script=events)
def test_guesses_lie_on_the_answers_in_their_order(two_groups: bool, script: list[Event]) -> None:
    graph, naive = ConstraintGraph(N, two_groups=two_groups), Naive(N, two_groups=two_groups)
    guesses: dict[tuple[int, int], Relation] = {}
    for what, i, j, relation in script:
        if what == "tell":
            n_known = np.count_nonzero(naive.relations)
            told = graph.add(i, j, relation)
        elif what == "guess":
            graph.add_pseudo(j, i, relation)
            guesses.pop((i, j), None)
            guesses[i, j] = relation
        elif graph.answers:
            graph.retract(list(graph.answers)[i % len(graph.answers)])
        naive.answers = dict(graph.answers)
        naive.replay()
        if what == "tell":  # as if there were no guesses
            assert told.n_settled == (np.count_nonzero(naive.relations) - n_known) // 2
        facts: list[NaiveFact] = naive.facts(naive.standing)
        for (first, second), guess in guesses.items():
            if not naive.contradict([*facts, (first, second, int(guess))]):
                facts.append((first, second, int(guess)))
        same, different = naive.close(facts)
        expected = same.astype(np.int8) - different.astype(np.int8)
        pairs = np.array(list(itertools.product(range(N), repeat=2)))
        np.testing.assert_array_equal(graph.pair_relations(pairs, pseudo=True), expected.ravel())
        np.testing.assert_array_equal(graph.relations(range(N), pseudo=True), expected - np.eye(N))
        np.testing.assert_array_equal(graph.pair_relations(pairs), naive.relations.ravel())


def test_a_guess_never_counts_as_known_and_never_stands_in_the_way() -> None:
    graph = ConstraintGraph(5)
    graph.add_pseudo(0, 1, SAME)
    assert graph.relation(0, 1) is UNKNOWN
    assert graph.pair_relations([(0, 1)])[0] == UNKNOWN
    assert graph.add(0, 1, DIFFERENT).taken
    assert graph.pair_relations([(0, 1)], pseudo=True)[0] == DIFFERENT
    graph.retract(0)
    assert graph.pair_relations([(0, 1)], pseudo=True)[0] == SAME


def test_guesses_can_be_dropped_one_by_one_or_all() -> None:
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
