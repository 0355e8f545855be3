"""A move by hand retracts the older answers that contradict it, in the same action."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question
from likewise.workspace.corrections import correction
from likewise.workspace.criterion import CriterionSession
from likewise.workspace.workspace import Workspace


def answer(criterion: CriterionSession, *given_answers: tuple[Question, str]) -> list[int]:
    return [criterion.answer(question, text).result.id for question, text in given_answers]


def active(workspace: Workspace) -> list[tuple[str, str]]:
    return [(entry.kind, entry.answer) for entry in workspace.session.answers("colour")]


@pytest.fixture
def criterion(trained_workspace: Workspace) -> CriterionSession:
    return trained_workspace.criterion("colour")


def in_group(criterion: CriterionSession, key: str) -> set[int]:
    return set(criterion.status.gallery().members[key].tolist())


def test_a_group_chosen_before_is_replaced_and_one_undo_restores_it(
    criterion: CriterionSession, trained_workspace: Workspace
) -> None:
    answer(criterion, (Question.choice(0, (10, 11), ("g1", "g2")), "g1"))
    criterion.move_images([0], "g2")
    assert 0 in in_group(criterion, "g2")
    assert active(trained_workspace) == [("choice", "g2")]
    assert criterion.review.conflicts() == []
    criterion.undo()
    assert 0 in in_group(criterion, "g1")
    assert active(trained_workspace) == [("choice", "g1")]


def test_pairs_that_contradict_the_move_are_retracted_and_others_stay(
    criterion: CriterionSession, trained_workspace: Workspace
) -> None:
    pairs = [((0, 2), "same"), ((2, 4), "same"), ((0, 1), "different"), ((1, 3), "same")]
    ids = answer(criterion, *((Question.pair(*pair), text) for pair, text in pairs))
    results = criterion.move_images([0], "g2")
    assert all(result.accepted for result in results)
    assert 0 in in_group(criterion, "g2")
    assert {2, 4} <= in_group(criterion, "g1")
    kept = {entry.id for entry in trained_workspace.session.answers("colour")} & set(ids)
    assert kept == {ids[1], ids[3]}


def test_images_that_are_moved_together_stay_linked(
    criterion: CriterionSession, trained_workspace: Workspace
) -> None:
    (number,) = answer(criterion, (Question.pair(0, 2), "same"))
    criterion.move_images([0, 2], "g2")
    assert number in {entry.id for entry in trained_workspace.session.answers("colour")}
    assert {0, 2} <= in_group(criterion, "g2")


def test_an_image_marked_as_bad_can_be_moved_to_a_group(criterion: CriterionSession) -> None:
    answer(criterion, (Question.choice(0, (10, 11), ("g1", "g2")), "bad_image"))
    assert criterion.status.gallery().bad.tolist() == [0]
    criterion.move_images([0], "g2")
    assert criterion.status.gallery().bad.tolist() == []
    assert 0 in in_group(criterion, "g2")


def test_a_conflict_is_settled_by_a_move(criterion: CriterionSession) -> None:
    answer(criterion, *((Question.pair(*p), "same") for p in [(0, 2), (1, 3)]))
    answer(criterion, (Question.pair(0, 2), "different"))
    assert len(criterion.review.conflicts()) == 1
    criterion.move_images([0], "g2")
    assert criterion.review.conflicts() == []


def test_images_that_were_compared_with_a_moved_one_keep_their_group(
    criterion: CriterionSession, trained_workspace: Workspace
) -> None:
    """The moved image was the example of its group: the answers beside it are not lost."""
    placed = [(Question.choice(i, (0, 1), ("g1", "g2")), "g1") for i in (2, 4, 6)]
    answer(criterion, *placed)
    criterion.move_images([0], "g2")
    assert {2, 4, 6} <= in_group(criterion, "g1")
    assert 0 in in_group(criterion, "g2")
    assert sorted(active(trained_workspace)) == [("choice", "g1")] * 3 + [("choice", "g2")]
    criterion.undo()
    assert len(active(trained_workspace)) == 3
    assert {0, 2, 4, 6} <= in_group(criterion, "g1")


def test_a_moved_image_leaves_a_grid_and_the_other_images_keep_their_group(
    criterion: CriterionSession, trained_workspace: Workspace
) -> None:
    grid = Question.grid((0, 2, 4, 1), 6, "g1")
    number = criterion.answer(grid, "ticked", ticked=[1]).result.id
    criterion.move_images([0], "g2")
    assert 0 in in_group(criterion, "g2")
    assert {2, 4, 6} <= in_group(criterion, "g1")
    assert 1 in in_group(criterion, "g2")
    restated = [a for a in trained_workspace.session.graph("colour").answers.values() if a.ticked]
    assert [(a.question.images, a.ticked) for a in restated] == [((2, 4, 1, 6), (1,))]
    criterion.move_images([6], "g2")  # the example of the grid
    assert {2, 4} <= in_group(criterion, "g1")
    assert {0, 6} <= in_group(criterion, "g2")
    assert criterion.review.conflicts() == []
    criterion.undo()
    criterion.undo()
    (entry,) = trained_workspace.session.answers("colour")
    assert entry.id == number


def test_a_ticked_image_can_be_moved_to_the_group_after_all(
    criterion: CriterionSession, trained_workspace: Workspace
) -> None:
    criterion.answer(Question.grid((0, 2, 1), 6, "g1"), "ticked", ticked=[1, 2])
    criterion.move_images([2], "g1")
    assert {0, 2, 6} <= in_group(criterion, "g1")
    assert 1 in in_group(criterion, "g2")
    assert criterion.review.conflicts() == []


def test_a_split_retracts_what_contradicts_it(
    criterion: CriterionSession, trained_workspace: Workspace
) -> None:
    answer(criterion, (Question.pair(0, 10), "same"), (Question.pair(2, 10), "same"))
    key, results = criterion.split_group([0, 2, 4])
    assert all(result.accepted for result in results)
    assert in_group(criterion, key) == {0, 2, 4}
    criterion.undo()
    assert active(trained_workspace) == [("pair", "same")] * 2


_GROUPS = ("g1", "g2", "g3")


@st.composite
def _histories(draw: st.DrawFn) -> tuple[list[Answer], list[int], str]:
    """Return right answers about 9 images in three groups, images to move, and a group."""
    image = st.integers(0, 8)
    answers = []
    for _ in range(draw(st.integers(0, 12))):
        first, second = draw(st.lists(image, min_size=2, max_size=2, unique=True))
        kind = draw(st.sampled_from(["pair", "choice", "grid"]))
        if kind == "grid":
            asked = draw(
                st.lists(image.filter(lambda i: i != 8), min_size=1, max_size=4, unique=True)
            )
            ticked = tuple(i for i in asked if i % 3 != 2)
            answers.append(Answer(Question.grid(tuple(asked), 8, "g3"), "ticked", ticked=ticked))
        elif kind == "pair":
            text = "same" if first % 3 == second % 3 else "different"
            answers.append(Answer(Question.pair(first, second), text))
        else:
            shown = [
                draw(st.sampled_from([i for i in range(g, 9, 3) if i != first])) for g in range(3)
            ]
            chosen = _GROUPS[first % 3]
            answers.append(Answer(Question.choice(first, tuple(shown), _GROUPS), chosen))
    moved = draw(st.lists(image, min_size=1, max_size=3, unique=True))
    return answers, moved, draw(st.sampled_from(_GROUPS))


@settings(max_examples=100, deadline=None)
@given(_histories())
def test_a_correction_never_contradicts_what_is_left(
    history: tuple[list[Answer], list[int], str],
) -> None:
    answers, moved, key = history
    graph = ConstraintGraph(9)
    for one in answers:
        assert graph.tell(one).accepted
    others = [i for i in range(9) if i not in moved]
    members = {g: [i for i in others if i % 3 == n] for n, g in enumerate(_GROUPS)}
    examples = {g: images[0] for g, images in members.items() if images}
    if key not in examples or 8 in moved:  # a moved representative of a grid: not solved yet
        return
    question = Question.choice(moved[0], tuple(examples.values()), tuple(examples))
    new = [Answer(Question.choice(i, question.images[1:], question.groups), key) for i in moved]
    made = correction(new, key, moved, graph, members, lambda image: _GROUPS[image % 3])
    for number in made.retracts:
        assert not set(graph.answers[number].question.images).isdisjoint(moved)
        graph.retract(number)
    assert all(graph.tell(one).accepted for one in made.answers)
    assert not graph.conflicts
    placed = {image for one in answers for image in one.placed}
    still = {image for one in graph.answers.values() for image in one.placed}
    assert placed <= still | set(moved)  # no other image loses its group
    assert (np.asarray(graph.groups())[moved] == graph.groups()[examples[key]]).all()
