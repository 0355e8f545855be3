"""Input of the graph: invalid input raises an error and changes nothing."""

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from likewise.errors import InvalidParameterError
from tests.constraints.cases import choice

SAME = Relation.SAME


def test_answer_ids_can_be_given_as_long_as_they_increase() -> None:
    graph = ConstraintGraph(5)
    answer = Answer(Question.pair(0, 1), "same")
    assert graph.tell(answer, answer_id=7).id == 7
    assert graph.tell(answer).id == 8
    with pytest.raises(InvalidParameterError, match=r"larger than all before \(>= 9\), got 8"):
        graph.tell(answer, answer_id=8)
    assert list(graph.answers) == [7, 8]


def test_an_image_outside_the_collection_raises_and_changes_nothing() -> None:
    graph = ConstraintGraph(5)
    message = r"Image 5 is not in this collection of 5; images are numbered 0 to 4\."
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
        with pytest.raises(InvalidParameterError, match=message):
            call()
    with pytest.raises(InvalidParameterError, match="Image -1 is not in this collection"):
        graph.relations([-1])
    with pytest.raises(InvalidParameterError, match="Image -1 is not in this collection"):
        graph.add(-1, 0, SAME)
    assert not graph.answers
    assert graph.relations(range(5)).any() == 0
    assert graph.add(0, 1, SAME).id == 0


def test_a_question_with_an_image_twice_raises_and_changes_nothing() -> None:
    graph = ConstraintGraph(5)
    message = r"different.*, got image 3 twice\."
    for call in (
        lambda: graph.add(3, 3, SAME),
        lambda: graph.tell(Answer(Question("pair", (3, 3)), "same")),
        lambda: graph.tell(choice(3, {"a": 1, "b": 3}, "a")),
        lambda: graph.tell(choice(0, {"a": 3, "b": 3}, "a")),
        lambda: graph.add_pseudo(3, 3, SAME),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            call()
    assert not graph.answers


def test_other_invalid_input_raises() -> None:
    graph = ConstraintGraph(5)
    with pytest.raises(InvalidParameterError, match="n_images must be an integer >= 1, got 0"):
        ConstraintGraph(0)
    with pytest.raises(
        InvalidParameterError, match="must be one of the 0 answers in the log, got 4"
    ):
        graph.retract(4)
    with pytest.raises(InvalidParameterError, match=r"relation must be SAME \(1\).*, got 3"):
        graph.add(0, 1, 3)  # type: ignore[arg-type]  # invalid on purpose
    with pytest.raises(InvalidParameterError, match=r"must be an integer index, got 1\.5"):
        graph.relation(0, 1.5)  # type: ignore[arg-type]  # invalid on purpose
    with pytest.raises(InvalidParameterError, match="indexes must be integers, got bool"):
        graph.relations([True, False])
    with pytest.raises(
        InvalidParameterError, match=r"pairs must have shape \(m, 2\), got \(2, 3\)"
    ):
        graph.pair_relations(np.zeros((2, 3), dtype=np.intp))
    assert graph.pair_relations([]).shape == (0,)


def test_numpy_integers_are_valid_images() -> None:
    graph = ConstraintGraph(5)
    first, second = np.array([0, 1])
    graph.add(first, second, SAME)
    assert graph.relation(first, second) is SAME
