"""Long logs with noise and retractions, compared with a new graph."""

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from likewise.random_streams import stream


def some_answer(labels: list[int], noise: float, rng: np.random.Generator) -> Answer:
    """An answer according to the labels, wrong with probability `noise`."""
    first, second, third = rng.choice(len(labels), 3, replace=False).tolist()
    kind, is_wrong = rng.random(), rng.random() < noise
    if kind < 0.1:
        return Answer(Question.label(first), f"name {(labels[first] + is_wrong) % 12}")
    if kind < 0.2:
        question = Question.choice(first, (second, third), ("a", "b"))
        fits = [
            key for key, i in zip("ab", (second, third), strict=True) if labels[i] == labels[first]
        ]
        return Answer(question, fits[0] if fits and not is_wrong else "none")
    is_same = (labels[first] == labels[second]) != is_wrong
    return Answer(Question.pair(first, second), "same" if is_same else "different")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_groups", "two_groups", "noise"),
    [(2, False, 0.0), (2, True, 0.0), (2, True, 0.05), (12, False, 0.0), (12, False, 0.05)],
)
def test_after_many_retractions_the_state_is_that_of_a_new_graph(
    n_groups: int, two_groups: bool, noise: float
) -> None:
    rng = stream(0, "a long log", n_groups, two_groups, str(noise))
    n_images = 300
    labels = rng.integers(n_groups, size=n_images).tolist()
    graph = ConstraintGraph(n_images, two_groups=two_groups)
    for _ in range(3):
        for _ in range(700):
            graph.tell(some_answer(labels, noise, rng))
        for answer_id in rng.choice(list(graph.answers), 60, replace=False).tolist():
            graph.retract(answer_id)
        fresh = ConstraintGraph(n_images, two_groups=two_groups)
        for answer_id, answer in graph.answers.items():
            fresh.tell(answer, answer_id=answer_id)
        for more in [some_answer(labels, noise, rng) for _ in range(100)]:
            result = graph.tell(more)
            again = fresh.tell(more, answer_id=result.id)
            assert (result.accepted, result.n_settled) == (again.accepted, again.n_settled)
        assert_same_state(graph, fresh)


def assert_same_state(graph: ConstraintGraph, fresh: ConstraintGraph) -> None:
    everything = np.arange(graph.n_images)
    np.testing.assert_array_equal(graph.relations(everything), fresh.relations(everything))
    np.testing.assert_array_equal(graph.groups(), fresh.groups())
    np.testing.assert_array_equal(graph.cannot_links(), fresh.cannot_links())
    assert graph.group_names() == fresh.group_names()
    assert list(graph.conflicts) == list(fresh.conflicts)
    for answer_id, proof in graph.conflicts.items():
        assert {constraint.answer_id for constraint in proof}.isdisjoint(graph.conflicts)
        assert all(constraint.answer_id < answer_id for constraint in proof)


def test_n_settled_of_a_group_with_many_cannot_links() -> None:
    graph = ConstraintGraph(400)
    for other in range(2, 200):
        assert graph.add(0, other, Relation.DIFFERENT).n_settled == 1
    assert graph.add(0, 1, Relation.SAME).n_settled == 1 + 198
    assert graph.add(2, 3, Relation.SAME).n_settled == 1
    assert (
        graph.add(2, 300, Relation.SAME).n_settled == 2 + 2
    )  # 300 joins 2 and 3, differs from 0, 1
    assert graph.add(1, 301, Relation.SAME).n_settled == 2 + 198 + 1
    graph.retract(199)  # 2 = 3, after the 198 cannot-links and 0 = 1
    assert graph.add(1, 302, Relation.SAME).n_settled == 3 + 199


def test_a_long_chain_is_split_where_an_answer_is_retracted() -> None:
    graph = ConstraintGraph(1000)
    for image in range(999):
        graph.add(image, image + 1, Relation.SAME)
    graph.add(0, 999, Relation.DIFFERENT)
    assert len(graph.conflicts[999]) == 999
    graph.retract(400)
    assert graph.relation(0, 999) is Relation.DIFFERENT
    assert set(graph.groups().tolist()) == {0, 401}
