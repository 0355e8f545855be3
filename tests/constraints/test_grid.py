"""Grids in the constraint graph: what they imply, and what is kept of one that contradicts."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.constraints import Answer, ConstraintGraph, Question, Relation
from likewise.constraints.question import BAD_IMAGE, CANNOT_TELL, MAX_GRID_SIZE, TICKED
from likewise.errors import InvalidParameterError
from tests.constraints.naive import Naive


def grid(images: tuple[int, ...], shown: int, ticked: tuple[int, ...] = ()) -> Answer:
    return Answer(Question.grid(images, shown, "g"), TICKED, ticked=ticked)


def test_unticked_images_belong_to_the_group_and_ticked_ones_do_not() -> None:
    graph = ConstraintGraph(6)
    result = graph.tell(grid((1, 2, 3, 4), 0, ticked=(3,)))
    assert result.accepted
    assert result.n_settled == 6 + 4  # pairs of 0, 1, 2, 4, and each of them with 3
    assert graph.relation(1, 4) is Relation.SAME
    assert graph.relation(1, 3) is Relation.DIFFERENT
    assert graph.relation(3, 5) is Relation.UNKNOWN


def test_the_excluded_images_of_a_conflict_are_those_that_contradict() -> None:
    graph = ConstraintGraph(8)
    graph.add(0, 1, Relation.DIFFERENT)
    graph.add(0, 2, Relation.SAME)
    result = graph.tell(grid((1, 2, 3, 4), 0, ticked=(2, 4)))
    assert not result.accepted
    assert set(result.excluded) == {1, 2}
    assert [str(one) for one in result.proof] == ["0 ≠ 1"]
    assert graph.relation(0, 3) is Relation.SAME
    assert graph.relation(0, 4) is Relation.DIFFERENT
    assert graph.active_answers[2] == grid((3, 4), 0, ticked=(4,))
    assert graph.n_answers == 3


def test_of_two_images_that_contradict_only_each_other_both_are_left_out() -> None:
    graph = ConstraintGraph(8)
    graph.add(1, 2, Relation.DIFFERENT)
    result = graph.tell(grid((1, 2, 3), 0))
    assert set(result.excluded) == {1, 2}
    assert [str(one) for one in result.proof] == ["1 ≠ 2"]
    assert graph.relation(0, 3) is Relation.SAME


def test_an_image_that_contradicts_several_is_left_out_alone() -> None:
    graph = ConstraintGraph(8)
    for image in (1, 2, 3):
        graph.add(image, 4, Relation.DIFFERENT)
    assert graph.tell(grid((1, 2, 3, 4), 0)).excluded == (4,)
    assert graph.relation(1, 3) is Relation.SAME


def test_the_same_image_cannot_be_in_the_group_and_ticked_as_a_linked_one() -> None:
    graph = ConstraintGraph(8)
    graph.add(1, 2, Relation.SAME)
    assert set(graph.tell(grid((1, 2, 3), 0, ticked=(2,))).excluded) == {1, 2}


def test_with_two_groups_all_ticked_images_are_the_same() -> None:
    graph = ConstraintGraph(8, two_groups=True)
    assert graph.tell(grid((1, 2, 3), 0, ticked=(1, 2))).accepted
    assert graph.relation(1, 2) is Relation.SAME
    graph.add(4, 5, Relation.DIFFERENT)
    assert set(graph.tell(grid((4, 5), 0, ticked=(4, 5))).excluded) == {4, 5}


def test_one_retraction_removes_all_constraints_of_a_grid() -> None:
    graph = ConstraintGraph(8)
    graph.add(0, 1, Relation.DIFFERENT)
    number = graph.tell(grid((1, 2, 3), 0)).id  # partly a conflict
    graph.retract(number)
    assert graph.relation(2, 3) is Relation.UNKNOWN
    assert not graph.conflicts
    assert not graph.excluded
    graph.tell(grid((1,), 0))  # wholly a conflict
    assert graph.n_answers == 1
    graph.retract(number + 1)
    assert graph.relation(0, 1) is Relation.DIFFERENT


def test_ticked_images_of_a_bad_image_answer_are_bad() -> None:
    graph = ConstraintGraph(8)
    graph.tell(Answer(Question.grid((1, 2, 3), 0, "g"), BAD_IMAGE, ticked=(2,)))
    graph.tell(Answer(Question.grid((4, 5), 0, "g"), BAD_IMAGE))
    assert graph.bad_images == {2}
    assert graph.relation(1, 3) is Relation.UNKNOWN


@pytest.mark.parametrize(
    ("answer", "ticked", "message"),
    [
        (TICKED, (7,), "must be different images of the grid, got 7"),
        (TICKED, (0,), "must be different images of the grid, got 0"),
        (TICKED, (1, 1), r"must be different images of the grid, got \[1, 1\]"),
        (CANNOT_TELL, (1,), "can be ticked only in the answers ticked and bad_image"),
        ("same", (), "must be one of ticked, cannot_tell, bad_image"),
    ],
)
def test_an_invalid_answer_to_a_grid_raises(
    answer: str, ticked: tuple[int, ...], message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Answer(Question.grid((1, 2, 3), 0, "g"), answer, ticked=ticked)


def test_an_invalid_grid_raises() -> None:
    with pytest.raises(InvalidParameterError, match=f"1 to {MAX_GRID_SIZE} images, got 0"):
        Question.grid((), 0, "g")
    with pytest.raises(InvalidParameterError, match=r"not in .* got 'none'"):
        Question.grid((1,), 0, "none")
    with pytest.raises(InvalidParameterError, match="must have one group"):
        Question.build("grid", (1, 2), ("a", "b"))


def tell(naive: Naive, i: int, j: int, relation: Relation) -> bool:
    """Add a pair to the reference; return whether it contradicts nothing."""
    number = len(naive.answers)
    value = "same" if relation is Relation.SAME else "different"
    naive.answers[number] = Answer(Question.pair(i, j), value)
    naive.replay()
    return number in naive.active


N = 9
PAIR = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(
    lambda pair: pair[0] != pair[1]
)
GRID = st.permutations(range(N)).flatmap(
    lambda order: st.tuples(
        st.just(tuple(order[:5])), st.just(order[5]), st.sets(st.sampled_from(order[:5]))
    )
)


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(st.tuples(PAIR, st.sampled_from([Relation.SAME, Relation.DIFFERENT]))),
    grids=st.lists(GRID, min_size=1, max_size=3),
    two_groups=st.booleans(),
)
def test_what_is_kept_of_grids_is_consistent_and_does_not_depend_on_the_order_of_images(
    pairs: list[tuple[tuple[int, int], Relation]],
    grids: list[tuple[tuple[int, ...], int, set[int]]],
    two_groups: bool,
) -> None:
    graph, reverse = (ConstraintGraph(N, two_groups=two_groups) for _ in range(2))
    naive = Naive(N, two_groups=two_groups)
    for (i, j), relation in pairs:
        graph.add(i, j, relation)
        reverse.add(i, j, relation)
        tell(naive, i, j, relation)
    for images, shown, ticked in grids:
        result = graph.tell(grid(images, shown, tuple(sorted(ticked))))
        other = reverse.tell(grid(images[::-1], shown, tuple(sorted(ticked))))
        assert set(result.excluded) == set(other.excluded)
        assert result.accepted == (not result.excluded) == (not result.proof)
        for image in set(images) - set(result.excluded):
            relation = Relation.DIFFERENT if image in ticked else Relation.SAME
            assert tell(naive, shown, image, relation)  # contradicts nothing
    np.testing.assert_array_equal(graph.relations(range(N)) + np.eye(N), naive.relations)


def test_grids_replay_to_the_same_state() -> None:
    answers = [grid((1, 2, 3), 0, (3,)), grid((3, 4, 1), 0, (1,)), grid((5, 6), 4)]
    for order in itertools.permutations(answers):
        graph, again = ConstraintGraph(8), ConstraintGraph(8)
        numbers = [graph.tell(answer).id for answer in order]
        extra = graph.add(6, 7, Relation.SAME)
        graph.retract(extra.id)
        for answer in order:
            again.tell(answer)
        np.testing.assert_array_equal(graph.relations(range(8)), again.relations(range(8)))
        assert [graph.excluded.get(n) for n in numbers] == [again.excluded.get(n) for n in numbers]
