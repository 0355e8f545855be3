import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import BAD_IMAGE, Answer, Question, Relation
from likewise.queries.base import BatchConstraints, Pool, Random, select
from likewise.queries.candidates import all_pairs
from likewise.random_streams import stream

SAME, DIFFERENT = Relation.SAME, Relation.DIFFERENT


@pytest.fixture
def graph() -> ConstraintGraph:
    graph = ConstraintGraph(20)
    for first, second, relation in [(3, 5, SAME), (5, 9, SAME), (9, 14, DIFFERENT)]:
        graph.add(first, second, relation)
    return graph


def test_relations_in_a_batch_are_those_of_the_graph(graph: ConstraintGraph) -> None:
    batch = BatchConstraints(graph, np.array([14, 9, 3, 7]))
    assert batch.n_images == 4
    known = batch.pair_relations(np.array([[0, 1], [0, 2], [1, 2], [0, 3]]))
    assert known.tolist() == [DIFFERENT, DIFFERENT, SAME, 0]
    assert batch.groups().tolist() == [0, 1, 1, 3]
    assert batch.cannot_links().tolist() == [[0, 1]]


def test_an_image_drawn_twice_is_not_compared_with_itself(graph: ConstraintGraph) -> None:
    batch = BatchConstraints(graph, np.array([7, 8, 7]))
    assert batch.pair_relations(np.array([[0, 2], [0, 1]])).tolist() == [SAME, 0]


def test_bad_images_and_passed_pairs_are_counted_from_the_batch(graph: ConstraintGraph) -> None:
    graph.tell(Answer(Question.label(9), BAD_IMAGE))
    batch = BatchConstraints(graph, np.array([14, 9, 3, 7]))
    assert set(batch.bad_images) == {1}
    assert batch.in_batch([(3, 14), (7, 9), (3, 4)]) == {(0, 2), (1, 3)}


def test_questions_of_a_batch_come_back_as_sorted_pairs_of_the_collection(
    graph: ConstraintGraph,
) -> None:
    batch = BatchConstraints(graph, np.array([14, 9, 3, 7]))
    pool = Pool(np.ones((4, 2)), np.ones((4, 2)) / 2, batch)
    asked = select(Random(), pool, all_pairs(np.arange(4)), 6, stream(0), allow_fewer=True)
    assert sorted(batch.in_collection(asked).tolist()) == [[3, 7], [7, 9], [7, 14]]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), max_size=12))
def test_groups_and_cannot_links_agree_with_the_matrix(
    answers: list[tuple[int, int, bool]],
) -> None:
    graph = ConstraintGraph(10)
    for first, second, is_same in answers:
        if first != second:
            graph.add(first, second, SAME if is_same else DIFFERENT)
    batch = BatchConstraints(graph, np.array([8, 1, 5, 0, 3]))
    groups = batch.groups()
    apart = {frozenset(pair) for pair in batch.cannot_links().tolist()}
    for i, j in all_pairs(np.arange(5)).tolist():
        if groups[i] == groups[j]:
            expected = SAME
        else:
            is_apart = frozenset((int(groups[i]), int(groups[j]))) in apart
            expected = DIFFERENT if is_apart else Relation.UNKNOWN
        assert batch.matrix[i, j] == batch.matrix[j, i] == expected
