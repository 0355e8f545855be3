"""Answers taken back: who comes in, who steps back, and that nothing else changes."""

import pytest
from likewise.constraints.log import Log

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.errors import InvalidParameterError
from tests.constraints.cases import choice, written

SAME, DIFFERENT, UNKNOWN = Relation.SAME, Relation.DIFFERENT, Relation.UNKNOWN


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


def test_an_answer_cannot_be_taken_back_twice() -> None:
    graph = ConstraintGraph(5)
    graph.add(0, 1, SAME)
    graph.retract(0)
    with pytest.raises(InvalidParameterError, match="Answer 0 is not among the 0 answers kept"):
        graph.retract(0)
