"""The constraint graph by examples: implied relations, conflicts and proofs."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from tests.constraints.cases import choice, proof_text

SAME, DIFFERENT, UNKNOWN = Relation.SAME, Relation.DIFFERENT, Relation.UNKNOWN


def test_a_contradicting_answer_is_kept_as_a_conflict_with_its_proof() -> None:
    graph = ConstraintGraph(20)
    graph.add(3, 9, SAME)
    graph.add(9, 17, SAME)
    result = graph.add(3, 17, DIFFERENT)
    assert (result.id, result.accepted, result.n_settled) == (2, False, 0)
    assert ", ".join(map(str, result.proof)) == "3 = 9, 9 = 17"
    assert graph.relation(3, 17) is SAME
    assert graph.answers[2].answer == "different"
    assert graph.n_answers == 2


def test_the_proof_is_the_shortest_chain_and_goes_from_one_image_to_the_other() -> None:
    graph = ConstraintGraph(10)
    for i, j in [(0, 1), (1, 2), (2, 3), (3, 4)]:
        graph.add(i, j, SAME)
    graph.add(1, 3, SAME)
    graph.add(4, 5, DIFFERENT)
    assert [str(constraint) for constraint in graph.proof(0, 5)] == [
        "0 = 1",
        "1 = 3",
        "3 = 4",
        "4 ≠ 5",
    ]
    assert graph.proof(0, 9) == ()


def test_a_proof_through_group_names_contains_them() -> None:
    graph = ConstraintGraph(10)
    graph.label(3, "winter")
    graph.label(9, "summer")
    assert proof_text(graph, graph.add(3, 9, SAME).id) == "3 = 'winter', 9 = 'summer'"
    graph.label(4, "winter")
    assert proof_text(graph, graph.add(3, 4, DIFFERENT).id) == "3 = 'winter', 4 = 'winter'"
    assert proof_text(graph, graph.label(3, "spring").id) == "3 = 'winter'"
    graph.add(3, 9, DIFFERENT)  # the direct constraint is the shorter proof
    assert [str(constraint) for constraint in graph.proof(3, 9)] == ["3 ≠ 9"]


def test_groups_with_different_names_are_different() -> None:
    graph = ConstraintGraph(6)
    graph.label(5, "winter")
    graph.label(4, "summer")
    graph.add(1, 5, SAME)
    assert graph.group_names() == {1: "winter", 4: "summer"}
    assert graph.relation(1, 4) is DIFFERENT
    assert graph.cannot_links().tolist() == [[1, 4]]
    assert graph.groups().tolist() == [0, 1, 2, 3, 4, 1]


def test_a_name_that_no_answer_uses_is_removed() -> None:
    graph = ConstraintGraph(6)
    only = graph.label(5, "winter").id
    graph.label(4, "summer")
    graph.retract(only)
    assert graph.group_names() == {4: "summer"}
    assert graph.cannot_links().tolist() == []
    assert graph.add(4, 5, SAME).accepted


def test_with_two_groups_different_from_different_is_the_same() -> None:
    graph = ConstraintGraph(6, two_groups=True)
    for i, j in [(0, 1), (1, 2), (2, 3)]:
        graph.add(i, j, DIFFERENT)
    assert graph.relation(0, 2) is SAME
    assert graph.relation(0, 3) is DIFFERENT
    assert proof_text(graph, graph.add(0, 3, SAME).id) == "0 ≠ 1, 1 ≠ 2, 2 ≠ 3"
    assert graph.groups().tolist() == [0, 1, 0, 1, 4, 5]
    assert graph.cannot_links().tolist() == [[0, 1]]


def test_with_two_groups_a_third_name_is_a_conflict_until_one_is_retracted() -> None:
    graph = ConstraintGraph(6, two_groups=True)
    only = graph.label(0, "winter").id
    graph.label(1, "summer")
    third = graph.label(2, "spring")
    assert proof_text(graph, third.id) == "0 = 'winter', 1 = 'summer'"
    graph.retract(only)
    assert not graph.conflicts
    assert graph.group_names() == {1: "summer", 2: "spring"}
    assert graph.relation(1, 2) is DIFFERENT


def test_the_proof_against_a_third_name_is_short_and_valid() -> None:
    graph = ConstraintGraph(8, two_groups=True)
    graph.add(0, 2, DIFFERENT)
    graph.label(0, "winter")
    graph.label(1, "summer")
    for i, j in [(0, 5), (5, 6)]:
        graph.add(i, j, SAME)
    both = "0 = 'winter', 1 = 'summer'"
    assert proof_text(graph, graph.label(0, "spring").id) == "0 = 'winter'"
    assert proof_text(graph, graph.label(5, "spring").id) == "0 = 5, 0 = 'winter'"
    assert (
        proof_text(graph, graph.label(6, "spring").id) == both
    )  # its own chain has three constraints
    assert (
        proof_text(graph, graph.label(2, "spring").id) == both
    )  # "not winter" alone is not a proof


def test_a_choice_gives_one_must_link_and_cannot_links_to_the_other_groups() -> None:
    graph = ConstraintGraph(6)
    graph.tell(choice(0, {"a": 1, "b": 2, "c": 3}, "b"))
    assert [graph.relation(0, j) for j in range(1, 5)] == [DIFFERENT, SAME, DIFFERENT, UNKNOWN]
    assert graph.relation(1, 3) is UNKNOWN


@pytest.mark.parametrize("answer", ["none", "new"])
def test_a_choice_of_no_group_gives_cannot_links_to_all(answer: str) -> None:
    graph = ConstraintGraph(6)
    graph.tell(choice(0, {"a": 1, "b": 2}, answer))
    assert [graph.relation(0, j) for j in (1, 2)] == [DIFFERENT, DIFFERENT]
    assert graph.n_answers == 1


def test_a_choice_is_accepted_or_a_conflict_as_a_whole() -> None:
    graph = ConstraintGraph(6)
    graph.add(1, 2, SAME)
    result = graph.tell(choice(0, {"a": 1, "b": 2}, "a"))  # 0 = 1 fits, 0 ≠ 2 then does not
    assert not result.accepted
    assert graph.relation(0, 1) is UNKNOWN
    assert proof_text(graph, result.id) == "1 = 2"  # without the constraints of the choice itself
    graph.retract(0)
    assert graph.relation(0, 1) is SAME
    assert not graph.conflicts


def test_n_settled_counts_all_pairs_that_have_a_relation_now() -> None:
    graph = ConstraintGraph(9)
    assert graph.add(0, 1, SAME).n_settled == 1
    assert graph.add(2, 3, SAME).n_settled == 1
    assert graph.add(3, 4, DIFFERENT).n_settled == 2  # 3 ≠ 4 and 2 ≠ 4
    assert graph.add(1, 2, SAME).n_settled == 4 + 2  # two by two are the same, 0 and 1 ≠ 4
    assert graph.add(0, 3, SAME).n_settled == 0  # known
    assert graph.label(5, "x").n_settled == 0
    assert graph.label(0, "y").n_settled == 4  # two names: 5 differs from all four


def test_cannot_tell_is_kept_and_gives_no_constraint() -> None:
    graph = ConstraintGraph(5)
    result = graph.add(0, 1, UNKNOWN)
    assert result.accepted
    assert graph.relation(0, 1) is UNKNOWN
    assert graph.answers[result.id].answer == "cannot_tell"
    assert graph.n_answers == 1


def test_a_bad_pair_marks_both_images_except_one_with_a_constraint() -> None:
    graph = ConstraintGraph(8)
    pair = graph.tell(Answer(Question.pair(0, 1), "bad_image")).id
    graph.tell(Answer(Question.label(2), "bad_image"))
    graph.tell(choice(3, {"a": 4}, "bad_image"))
    assert graph.bad_images == {0, 1, 2, 3}
    constrained = graph.add(1, 7, DIFFERENT).id
    assert graph.bad_images == {0, 2, 3}
    graph.add(2, 7, DIFFERENT)  # marked as bad on its own: that remains
    graph.retract(constrained)
    assert graph.bad_images == {0, 1, 2, 3}
    graph.retract(pair)
    assert graph.bad_images == {2, 3}


def test_relations_of_a_batch_have_zero_diagonal_and_the_order_of_the_indexes() -> None:
    graph = ConstraintGraph(10)
    graph.add(7, 2, SAME)
    graph.add(2, 5, DIFFERENT)
    assert graph.relations([5, 7, 0]).tolist() == [[0, -1, 0], [-1, 0, 0], [0, 0, 0]]
    assert graph.relations([5, 7, 0]).dtype == np.int8
    assert graph.pair_relations([(5, 7)]).dtype == np.int8
    assert graph.relations([]).shape == (0, 0)


@pytest.mark.parametrize("two_groups", [False, True])
def test_a_copy_is_independent(two_groups: bool) -> None:
    graph = ConstraintGraph(6, two_groups=two_groups)
    graph.label(0, "a")
    graph.add_pseudo(3, 4, SAME)
    for twin in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        twin.label(1, "b")
        twin.add(1, 2, SAME)
        assert twin.relation(0, 2) is DIFFERENT
        assert twin.relations([3, 4], pseudo=True)[0, 1] == SAME
    assert graph.relation(0, 1) is UNKNOWN
    assert graph.n_answers == 1


def test_a_deleted_graph_is_freed_without_the_garbage_collector() -> None:
    graph = ConstraintGraph(5)
    graph.label(0, "a")
    graph.add_pseudo(0, 1, SAME)
    graph.relations([0, 1], pseudo=True)
    gone = weakref.ref(graph)
    gc.disable()  # a graph of a million images must not wait for the collector
    try:
        del graph
        assert gone() is None
    finally:
        gc.enable()
