"""The graph, case by case: what follows, what contradicts, and what is refused in words."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.log import Log
from likewise.constraints.question import Answer, Question
from likewise.constraints.relation import Relation
from likewise.errors import InvalidParameterError

SAME, DIFFERENT, UNKNOWN = Relation.SAME, Relation.DIFFERENT, Relation.UNKNOWN


def written(graph: ConstraintGraph, answer_id: int) -> str:
    """The proof against an answer, as a person reads it."""
    return ", ".join(map(str, graph.set_aside[answer_id]))


def choice(image: int, shown: dict[str, int], word: str) -> Answer:
    return Answer(Question.choice(image, tuple(shown.values()), tuple(shown)), word)


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


def test_taking_an_answer_back_lets_those_in_that_it_kept_out() -> None:
    graph = ConstraintGraph(5)
    graph.add(0, 1, SAME)
    graph.add(0, 1, DIFFERENT)
    graph.retract(0)
    assert graph.relation(0, 1) is DIFFERENT
    assert list(graph.answers) == [1]


def test_an_answer_that_comes_in_sends_later_ones_aside() -> None:
    graph = ConstraintGraph(5)
    graph.add(0, 1, SAME)
    graph.add(0, 1, DIFFERENT)
    graph.add(1, 2, SAME)
    graph.add(0, 2, SAME)  # fits as long as 0 = 1 stands
    graph.retract(0)
    assert written(graph, 3) == "0 ≠ 1, 1 = 2"
    assert graph.relation(0, 2) is DIFFERENT


def test_a_third_name_that_comes_in_sends_a_later_one_aside() -> None:
    graph = ConstraintGraph(6, two_groups=True)
    for image, name in enumerate(["winter", "summer", "spring", "winter"]):
        graph.label(image, name)
    graph.retract(0)
    assert list(graph.set_aside) == [3]
    assert graph.group_names() == {1: "summer", 2: "spring"}


@pytest.fixture
def no_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short cut must do: telling all answers again would be right too, but slow."""
    monkeypatch.delattr(Log, "_replay")


@pytest.mark.usefixtures("no_replay")
def test_a_choice_stays_aside_while_another_answer_says_the_same_against_it() -> None:
    graph = ConstraintGraph(6)
    graph.add(1, 2, SAME)
    graph.add(1, 2, SAME)
    graph.tell(choice(0, {"a": 1, "b": 2}, "a"))
    graph.retract(0)
    assert [fact.answer_id for fact in graph.set_aside[2]] == [1]


@pytest.mark.usefixtures("no_replay")
def test_a_choice_of_a_group_shown_twice_stays_aside_while_the_two_differ() -> None:
    graph = ConstraintGraph(6)
    graph.add(1, 2, DIFFERENT)
    graph.add(1, 2, DIFFERENT)
    graph.tell(Answer(Question.choice(0, (1, 2), ("a", "a")), "a"))
    graph.retract(0)
    assert [fact.answer_id for fact in graph.set_aside[2]] == [1]
    graph.retract(1)
    assert graph.relation(1, 2) is SAME


def test_one_name_for_two_images_does_not_speak_against_their_being_the_same() -> None:
    graph = ConstraintGraph(6)
    graph.label(0, "winter")
    graph.label(2, "winter")
    kept_out = graph.add(0, 1, SAME).id
    graph.tell(choice(0, {"a": 1, "b": 2}, "b"))
    graph.add(0, 1, SAME)
    graph.retract(kept_out)
    assert list(graph.set_aside) == [4]  # the choice has come in, what was said after it not


@pytest.mark.usefixtures("no_replay")
def test_what_steps_back_is_the_latest_answer_and_none_from_before() -> None:
    graph = ConstraintGraph(6)
    graph.add(1, 2, SAME)
    graph.add(0, 1, SAME)
    graph.add(0, 1, DIFFERENT)
    graph.add(0, 2, SAME)
    graph.retract(1)
    assert list(graph.set_aside) == [3]


def test_an_answer_that_is_heard_twice_comes_in_once() -> None:
    graph = ConstraintGraph(6)
    graph.add(0, 1, SAME)
    graph.tell(choice(0, {"a": 1, "b": 2}, "none"))
    graph.add(0, 1, SAME)
    graph.add(0, 2, SAME)
    graph.add(1, 2, DIFFERENT)
    graph.retract(0)  # the choice comes in, both that say the same go, so the last comes in
    assert list(graph.set_aside) == [2, 3]
    graph.retract(4)
    assert graph.relation(1, 2) is UNKNOWN


def test_taking_back_one_of_two_equal_answers_changes_nothing() -> None:
    graph = ConstraintGraph(5)
    graph.add(0, 1, DIFFERENT)
    graph.add(0, 1, DIFFERENT)
    graph.retract(0)
    assert graph.relation(0, 1) is DIFFERENT
    graph.retract(1)
    assert graph.relation(0, 1) is UNKNOWN


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


def test_ids_can_be_the_callers_own_as_long_as_they_grow() -> None:
    graph = ConstraintGraph(5)
    answer = Answer(Question.pair(0, 1), "same")
    assert graph.tell(answer, answer_id=7).id == 7
    assert graph.tell(answer).id == 8
    with pytest.raises(InvalidParameterError, match=r"answer_id=8 is not new; .* give 9 or more"):
        graph.tell(answer, answer_id=8)
    assert list(graph.answers) == [7, 8]


def test_an_image_outside_the_collection_is_named_and_changes_nothing() -> None:
    graph = ConstraintGraph(5)
    words = r"Image 5 is not in this collection of 5; images are numbered 0 to 4\."
    for call in (
        lambda: graph.add(0, 5, SAME),
        lambda: graph.label(5, "x"),
        lambda: graph.tell(choice(0, {"a": 1, "b": 5}, "a")),
        lambda: graph.tell(Answer(Question.label(5), "cannot_tell")),
        lambda: graph.relation(0, 5),
        lambda: graph.proof(5, 0),
        lambda: graph.relations([0, 5]),
        lambda: graph.pair_relations([(0, 1), (1, 5)]),
        lambda: graph.add_pseudo(0, 5, SAME),
    ):
        with pytest.raises(InvalidParameterError, match=words):
            call()
    with pytest.raises(InvalidParameterError, match="Image -1 is not in this collection"):
        graph.relations([-1])
    assert not graph.answers
    assert graph.relations(range(5)).any() == 0
    assert graph.add(0, 1, SAME).id == 0


def test_an_image_paired_with_itself_is_named_and_changes_nothing() -> None:
    graph = ConstraintGraph(5)
    words = r"Image 3 was paired with itself; ask about two images\."
    for call in (
        lambda: graph.add(3, 3, SAME),
        lambda: graph.tell(Answer(Question("pair", (3, 3)), "same")),
        lambda: graph.tell(choice(3, {"a": 1, "b": 3}, "a")),
        lambda: graph.tell(choice(0, {"a": 3, "b": 3}, "a")),
        lambda: graph.add_pseudo(3, 3, SAME),
    ):
        with pytest.raises(InvalidParameterError, match=words):
            call()
    assert not graph.answers


def test_other_bad_input_is_refused_in_words() -> None:
    graph = ConstraintGraph(5)
    with pytest.raises(InvalidParameterError, match="n_images=0 leaves nothing to ask about"):
        ConstraintGraph(0)
    with pytest.raises(InvalidParameterError, match="Answer 4 is not among the 0 answers kept"):
        graph.retract(4)
    with pytest.raises(InvalidParameterError, match=r"relation=3 is none; use SAME \(1\)"):
        graph.add(0, 1, 3)  # type: ignore[arg-type]  # what a caller without types may do
    with pytest.raises(InvalidParameterError, match=r"Image 1\.5 is not a position"):
        graph.relation(0, 1.5)  # type: ignore[arg-type]  # as above
    with pytest.raises(InvalidParameterError, match="Indexes of type bool are not positions"):
        graph.relations([True, False])
    with pytest.raises(InvalidParameterError, match=r"pairs of shape \(2, 3\) are no pairs"):
        graph.pair_relations(np.zeros((2, 3), dtype=np.intp))
    assert graph.pair_relations([]).shape == (0,)


def test_an_answer_cannot_be_taken_back_twice() -> None:
    graph = ConstraintGraph(5)
    graph.add(0, 1, SAME)
    graph.retract(0)
    with pytest.raises(InvalidParameterError, match="Answer 0 is not among the 0 answers kept"):
        graph.retract(0)


def test_numpy_integers_are_images_too() -> None:
    graph = ConstraintGraph(5)
    first, second = np.array([0, 1])
    graph.add(first, second, SAME)
    assert graph.relation(first, second) is SAME


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
