"""The graph, case by case: what follows, what contradicts, and why."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from tests.constraints.cases import choice, written

SAME, DIFFERENT, UNKNOWN = Relation.SAME, Relation.DIFFERENT, Relation.UNKNOWN


def test_a_contradiction_is_kept_set_aside_and_names_the_answers_it_breaks() -> None:
    graph = ConstraintGraph(20)
    graph.add(3, 9, SAME)
    graph.add(9, 17, SAME)
    told = graph.add(3, 17, DIFFERENT)
    assert (told.id, told.taken, told.n_settled) == (2, False, 0)
    assert ", ".join(map(str, told.proof)) == "3 = 9, 9 = 17"
    assert graph.relation(3, 17) is SAME
    assert graph.answers[2].answer == "different"
    assert graph.n_answers == 2


def test_the_proof_is_the_shortest_chain_and_goes_from_one_image_to_the_other() -> None:
    graph = ConstraintGraph(10)
    for i, j in [(0, 1), (1, 2), (2, 3), (3, 4)]:
        graph.add(i, j, SAME)
    graph.add(1, 3, SAME)
    graph.add(4, 5, DIFFERENT)
    assert [str(fact) for fact in graph.proof(0, 5)] == ["0 = 1", "1 = 3", "3 = 4", "4 ≠ 5"]
    assert graph.proof(0, 9) == ()


def test_a_proof_through_names_prints_them() -> None:
    graph = ConstraintGraph(10)
    graph.label(3, "winter")
    graph.label(9, "summer")
    assert written(graph, graph.add(3, 9, SAME).id) == "3 = 'winter', 9 = 'summer'"
    graph.label(4, "winter")
    assert written(graph, graph.add(3, 4, DIFFERENT).id) == "3 = 'winter', 4 = 'winter'"
    assert written(graph, graph.label(3, "spring").id) == "3 = 'winter'"
    graph.add(3, 9, DIFFERENT)  # said in so many words, this is the shorter proof
    assert [str(fact) for fact in graph.proof(3, 9)] == ["3 ≠ 9"]


def test_names_are_names_of_groups_and_different_from_each_other() -> None:
    graph = ConstraintGraph(6)
    graph.label(5, "winter")
    graph.label(4, "summer")
    graph.add(1, 5, SAME)
    assert graph.group_names() == {1: "winter", 4: "summer"}
    assert graph.relation(1, 4) is DIFFERENT
    assert graph.apart().tolist() == [[1, 4]]
    assert graph.groups().tolist() == [0, 1, 2, 3, 4, 1]


def test_a_name_that_no_answer_uses_any_more_is_gone() -> None:
    graph = ConstraintGraph(6)
    only = graph.label(5, "winter").id
    graph.label(4, "summer")
    graph.retract(only)
    assert graph.group_names() == {4: "summer"}
    assert graph.apart().tolist() == []
    assert graph.add(4, 5, SAME).taken


def test_with_two_groups_different_from_different_is_the_same() -> None:
    graph = ConstraintGraph(6, two_groups=True)
    for i, j in [(0, 1), (1, 2), (2, 3)]:
        graph.add(i, j, DIFFERENT)
    assert graph.relation(0, 2) is SAME
    assert graph.relation(0, 3) is DIFFERENT
    assert written(graph, graph.add(0, 3, SAME).id) == "0 ≠ 1, 1 ≠ 2, 2 ≠ 3"
    assert graph.groups().tolist() == [0, 1, 0, 1, 4, 5]
    assert graph.apart().tolist() == [[0, 1]]


def test_with_two_groups_a_third_name_is_a_contradiction_until_one_is_free() -> None:
    graph = ConstraintGraph(6, two_groups=True)
    only = graph.label(0, "winter").id
    graph.label(1, "summer")
    third = graph.label(2, "spring")
    assert written(graph, third.id) == "0 = 'winter', 1 = 'summer'"
    graph.retract(only)
    assert not graph.set_aside
    assert graph.group_names() == {1: "summer", 2: "spring"}
    assert graph.relation(1, 2) is DIFFERENT


def test_the_proof_against_a_third_name_is_short_and_holds() -> None:
    graph = ConstraintGraph(8, two_groups=True)
    graph.add(0, 2, DIFFERENT)
    graph.label(0, "winter")
    graph.label(1, "summer")
    for i, j in [(0, 5), (5, 6)]:
        graph.add(i, j, SAME)
    both = "0 = 'winter', 1 = 'summer'"
    assert written(graph, graph.label(0, "spring").id) == "0 = 'winter'"
    assert written(graph, graph.label(5, "spring").id) == "0 = 5, 0 = 'winter'"
    assert written(graph, graph.label(6, "spring").id) == both  # three facts say it is winter
    assert written(graph, graph.label(2, "spring").id) == both  # not winter, which is no proof


def test_a_choice_says_same_with_one_group_and_different_from_the_others_shown() -> None:
    graph = ConstraintGraph(6)
    graph.tell(choice(0, {"a": 1, "b": 2, "c": 3}, "b"))
    assert [graph.relation(0, j) for j in range(1, 5)] == [DIFFERENT, SAME, DIFFERENT, UNKNOWN]
    assert graph.relation(1, 3) is UNKNOWN


@pytest.mark.parametrize("word", ["none", "new"])
def test_a_choice_of_no_group_says_different_from_all(word: str) -> None:
    graph = ConstraintGraph(6)
    graph.tell(choice(0, {"a": 1, "b": 2}, word))
    assert [graph.relation(0, j) for j in (1, 2)] == [DIFFERENT, DIFFERENT]
    assert graph.n_answers == 1


def test_a_choice_is_taken_whole_or_set_aside_whole() -> None:
    graph = ConstraintGraph(6)
    graph.add(1, 2, SAME)
    told = graph.tell(choice(0, {"a": 1, "b": 2}, "a"))  # 0 = 1 fits, 0 ≠ 2 then does not
    assert not told.taken
    assert graph.relation(0, 1) is UNKNOWN
    assert written(graph, told.id) == "1 = 2"  # its own facts are no witnesses against it
    graph.retract(0)
    assert graph.relation(0, 1) is SAME
    assert not graph.set_aside


def test_n_settled_counts_all_pairs_that_have_a_relation_now() -> None:
    graph = ConstraintGraph(9)
    assert graph.add(0, 1, SAME).n_settled == 1
    assert graph.add(2, 3, SAME).n_settled == 1
    assert graph.add(3, 4, DIFFERENT).n_settled == 2  # 3 ≠ 4 and 2 ≠ 4
    assert graph.add(1, 2, SAME).n_settled == 4 + 2  # two by two are the same, 0 and 1 ≠ 4
    assert graph.add(0, 3, SAME).n_settled == 0  # known
    assert graph.label(5, "x").n_settled == 0
    assert graph.label(0, "y").n_settled == 4  # two names: 5 differs from all four


def test_cannot_tell_says_nothing_and_is_kept() -> None:
    graph = ConstraintGraph(5)
    told = graph.add(0, 1, UNKNOWN)
    assert told.taken
    assert graph.relation(0, 1) is UNKNOWN
    assert graph.answers[told.id].answer == "cannot_tell"
    assert graph.n_answers == 1


def test_a_bad_pair_marks_both_but_not_one_that_could_be_judged() -> None:
    graph = ConstraintGraph(8)
    pair = graph.tell(Answer(Question.pair(0, 1), "bad_image")).id
    graph.tell(Answer(Question.label(2), "bad_image"))
    graph.tell(choice(3, {"a": 4}, "bad_image"))
    assert graph.bad_images == {0, 1, 2, 3}
    judged = graph.add(1, 7, DIFFERENT).id
    assert graph.bad_images == {0, 2, 3}
    graph.add(2, 7, DIFFERENT)  # called bad by name: that stays
    graph.retract(judged)
    assert graph.bad_images == {0, 1, 2, 3}
    graph.retract(pair)
    assert graph.bad_images == {2, 3}


def test_the_diagonal_of_a_batch_is_zero_and_the_order_is_that_of_the_indexes() -> None:
    graph = ConstraintGraph(10)
    graph.add(7, 2, SAME)
    graph.add(2, 5, DIFFERENT)
    assert graph.relations([5, 7, 0]).tolist() == [[0, -1, 0], [-1, 0, 0], [0, 0, 0]]
    assert graph.relations([5, 7, 0]).dtype == np.int8
    assert graph.relations([]).shape == (0, 0)


@pytest.mark.parametrize("two_groups", [False, True])
def test_a_copy_lives_on_its_own(two_groups: bool) -> None:
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


def test_a_graph_that_is_let_go_frees_its_memory_at_once() -> None:
    graph = ConstraintGraph(5)
    graph.label(0, "a")
    graph.add_pseudo(0, 1, SAME)
    graph.relations([0, 1], pseudo=True)
    gone = weakref.ref(graph)
    gc.disable()  # a million images should not wait for the collector
    try:
        del graph
        assert gone() is None
    finally:
        gc.enable()
