"""Retraction: which conflicts become active, which answers become conflicts, and nothing else."""

import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.errors import InvalidParameterError
from tests.constraints.cases import choice, proof_text

SAME, DIFFERENT, UNKNOWN = Relation.SAME, Relation.DIFFERENT, Relation.UNKNOWN


def test_retracting_an_answer_activates_the_conflicts_it_caused() -> None:
    graph = ConstraintGraph(5)
    graph.add(0, 1, SAME)
    graph.add(0, 1, DIFFERENT)
    graph.retract(0)
    assert graph.relation(0, 1) is DIFFERENT
    assert list(graph.answers) == [1]


def test_a_conflict_that_becomes_active_makes_later_answers_conflicts() -> None:
    graph = ConstraintGraph(5)
    graph.add(0, 1, SAME)
    graph.add(0, 1, DIFFERENT)
    graph.add(1, 2, SAME)
    graph.add(0, 2, SAME)  # consistent while 0 = 1 is active
    graph.retract(0)
    assert proof_text(graph, 3) == "0 ≠ 1, 1 = 2"
    assert graph.relation(0, 2) is DIFFERENT


def test_a_third_name_that_becomes_active_makes_a_later_name_a_conflict() -> None:
    graph = ConstraintGraph(6, two_groups=True)
    for image, name in enumerate(["winter", "summer", "spring", "winter"]):
        graph.label(image, name)
    graph.retract(0)
    assert list(graph.conflicts) == [3]
    assert graph.group_names() == {1: "summer", 2: "spring"}


def test_a_choice_remains_a_conflict_while_another_answer_contradicts_it() -> None:
    graph = ConstraintGraph(6)
    graph.add(1, 2, SAME)
    graph.add(1, 2, SAME)
    graph.tell(choice(0, {"a": 1, "b": 2}, "a"))
    graph.retract(0)
    assert [constraint.answer_id for constraint in graph.conflicts[2]] == [1]


def test_two_images_with_one_name_can_be_must_linked() -> None:
    graph = ConstraintGraph(6)
    graph.label(0, "winter")
    graph.label(2, "winter")
    contradicted = graph.add(0, 1, SAME).id
    graph.tell(choice(0, {"a": 1, "b": 2}, "b"))
    graph.add(0, 1, SAME)
    graph.retract(contradicted)
    assert list(graph.conflicts) == [4]  # the choice is active, the answer after it is not


def test_the_latest_answer_becomes_the_conflict_and_none_from_before() -> None:
    graph = ConstraintGraph(6)
    graph.add(1, 2, SAME)
    graph.add(0, 1, SAME)
    graph.add(0, 1, DIFFERENT)
    graph.add(0, 2, SAME)
    graph.retract(1)
    assert list(graph.conflicts) == [3]


def test_a_conflict_that_was_contradicted_twice_becomes_active_once() -> None:
    graph = ConstraintGraph(6)
    graph.add(0, 1, SAME)
    graph.tell(choice(0, {"a": 1, "b": 2}, "none"))
    graph.add(0, 1, SAME)
    graph.add(0, 2, SAME)
    graph.add(1, 2, DIFFERENT)
    graph.retract(
        0
    )  # the choice becomes active, both must-links conflicts, so the last becomes active
    assert list(graph.conflicts) == [2, 3]
    graph.retract(4)
    assert graph.relation(1, 2) is UNKNOWN


def test_retracting_one_of_two_equal_answers_changes_nothing() -> None:
    graph = ConstraintGraph(5)
    graph.add(0, 1, DIFFERENT)
    graph.add(0, 1, DIFFERENT)
    graph.retract(0)
    assert graph.relation(0, 1) is DIFFERENT
    graph.retract(1)
    assert graph.relation(0, 1) is UNKNOWN


def test_an_answer_cannot_be_retracted_twice() -> None:
    graph = ConstraintGraph(5)
    graph.add(0, 1, SAME)
    graph.retract(0)
    with pytest.raises(
        InvalidParameterError, match="must be one of the 0 answers in the log, got 0"
    ):
        graph.retract(0)
