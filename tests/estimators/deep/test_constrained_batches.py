"""Batches that contain constrained pairs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from likewise.estimators.deep.objective import constrained_batches, constrained_pairs, fraction_met
from likewise.nn.training import shuffled_batches
from likewise.random_streams import stream


def answered(n_images: int = 400, n_answers: int = 60) -> ConstraintGraph:
    """Return a graph with answers to random pairs."""
    graph, rng = ConstraintGraph(n_images), stream(0, "answers")
    for i, j in rng.permutation(n_images)[: 2 * n_answers].reshape(-1, 2):
        graph.add(int(i), int(j), Relation.SAME if rng.random() < 0.5 else Relation.DIFFERENT)
    return graph


def test_constrained_pairs_meet_more_often_than_by_chance() -> None:
    graph = answered()
    linked = fraction_met(graph, constrained_batches(graph, 40, 0, epoch=0))
    by_chance = fraction_met(graph, shuffled_batches(400, 40, 0, epoch=0))
    assert by_chance < 0.3  # about a tenth
    assert linked > 0.7


def test_a_batch_has_at_most_its_fraction_of_constrained_images_and_no_duplicates() -> None:
    graph = answered()
    touched = set(constrained_pairs(graph).ravel().tolist())
    plain = list(shuffled_batches(400, 40, 0, epoch=3))
    batches = list(constrained_batches(graph, 40, 0, epoch=3, fraction=0.25))
    assert len(batches) == len(plain)
    for batch, before in zip(batches, plain, strict=True):
        assert len(set(batch.tolist())) == len(batch) == len(before)
        drawn = set(batch.tolist()) - set(before.tolist())
        assert drawn <= touched
        assert len(drawn) <= 10


def test_answers_that_share_an_image_fill_the_stated_fraction_of_a_batch() -> None:
    graph = ConstraintGraph(400)
    for image in range(1, 101):
        graph.add(0, image, Relation.DIFFERENT)  # a half of each pair is the same image
    for batch in constrained_batches(graph, 40, 0, epoch=0, fraction=0.75):
        assert (batch[:30] <= 100).all()
        assert 0 in batch[:30]


def test_without_answers_batches_are_shuffled_uniformly() -> None:
    graph = ConstraintGraph(50)
    for batch, plain in zip(
        constrained_batches(graph, 20, 1, epoch=2),
        shuffled_batches(50, 20, 1, epoch=2),
        strict=True,
    ):
        np.testing.assert_array_equal(batch, plain)
    assert fraction_met(graph, []) == 1.0


def test_only_active_constraints_between_two_images_count() -> None:
    graph = ConstraintGraph(9)
    graph.add(0, 1, Relation.SAME)
    graph.add(1, 2, Relation.SAME)
    graph.add(0, 2, Relation.DIFFERENT)  # contradicts, is set aside, yet 0 and 2 are the same
    graph.tell(Answer(Question.pair(3, 4), "cannot_tell"))
    graph.label(5, "red")
    graph.label(6, "red")
    graph.label(7, "blue")
    assert constrained_pairs(graph).tolist() == [[0, 1], [0, 2], [1, 2], [5, 6]]


def test_the_same_epoch_gives_the_same_batches_and_another_gives_others() -> None:
    graph = answered()
    first, again, other = (list(constrained_batches(graph, 40, 0, epoch=e)) for e in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])


@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 40), size=st.integers(1, 50), seed=st.integers(0, 99))
def test_every_batch_is_full_for_any_answers(n: int, size: int, seed: int) -> None:
    graph, rng = ConstraintGraph(n), stream(seed, "any")
    for _ in range(n):
        i, j = rng.choice(n, 2, replace=False)
        graph.add(int(i), int(j), Relation.SAME if rng.random() < 0.5 else Relation.DIFFERENT)
    for batch in constrained_batches(graph, size, seed, epoch=0):
        assert len(set(batch.tolist())) == len(batch) == min(size, n)
