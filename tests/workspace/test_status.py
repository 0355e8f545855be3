import pytest

from likewise.constraints.question import Question
from likewise.errors import SessionError
from likewise.workspace.workspace import Workspace


def test_a_criterion_without_results_has_no_gallery_and_no_estimate(workspace: Workspace) -> None:
    status = workspace.criterion("colour").status
    assert (status.results, status.version, status.quality) == (None, 0, {})
    with pytest.raises(SessionError, match="Criterion 'colour' has no groups yet"):
        status.gallery()


def test_a_conflict_is_counted_as_an_answer(
    trained_workspace: Workspace,
) -> None:
    criterion = trained_workspace.criterion("colour")
    criterion.answer(Question.pair(0, 2), "same")
    outcome = criterion.answer(Question.pair(0, 2), "different")
    assert not outcome.result.accepted
    assert criterion.status.n_answers == 2


def test_must_linked_images_are_those_at_the_last_training(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    criterion.answer(Question.pair(0, 2), "same")
    assert criterion.status.must_linked(0, 3) == [2]
    assert criterion.status.must_linked(99, 3) == []
    criterion.answer(Question.pair(0, 4), "same")
    assert criterion.status.must_linked(0, 3) == [2]
    criterion.status.load()
    assert criterion.status.must_linked(0, 3) == [2, 4]
    assert criterion.status.must_linked(0, 1) == [2]


def test_groups_that_the_last_training_did_not_use_are_not_shown(
    trained_workspace: Workspace,
) -> None:
    status = trained_workspace.criterion("colour").status
    trained_workspace.session.make_groups("colour", ["group 3", "group 4"])
    status.invalidate()
    assert len(status.groups.shown()) == 4
    assert [group.key for group in status.shown_groups()] == ["g1", "g2"]
