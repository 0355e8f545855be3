"""Groups that are split off, and moves that are refused."""

from pathlib import Path

import numpy as np
import pytest

from likewise.constraints.question import Question, Relation
from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.session import Session, save_results
from likewise.workspace.group_edits import SplitHistory
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, save_half_results


def test_selected_images_become_a_group_at_once_and_each_is_an_answer(
    trained_workspace: Workspace,
) -> None:
    criterion = trained_workspace.criterion("colour")
    key, results = criterion.split_group([0, 2, 4], "dusk")
    assert [one.accepted for one in results] == [True] * 3
    gallery = criterion.status.gallery()
    assert sorted(gallery.members[key].tolist()) == [0, 2, 4]
    assert [group.name for group in gallery.groups] == ["group 1", "group 2", "dusk"]
    answers = trained_workspace.session.answers("colour")
    assert [entry.answer for entry in answers] == [key] * 3
    assert criterion.criterion.n_clusters == 3


def test_a_new_group_is_kept_after_a_restart(trained_workspace: Workspace) -> None:
    key, _ = trained_workspace.criterion("colour").split_group([0, 2])
    path = trained_workspace.session.path
    trained_workspace.close()
    with Workspace(Session.open(path), has_worker=False) as workspace:
        members = workspace.criterion("colour").status.gallery().members
        assert sorted(members[key].tolist()) == [0, 2]
        graph = workspace.session.graph("colour")
        assert graph.relation(0, 2) is Relation.SAME
        assert graph.relation(0, 10) is Relation.DIFFERENT  # 10 was shown for the red group


@pytest.mark.parametrize("two_groups", [False, True])
def test_one_undo_removes_a_group_also_after_a_restart(folder: Path, two_groups: bool) -> None:
    session = make_session(folder, two_groups=two_groups)
    before, path = session.criterion("colour"), session.path
    save_half_results(session, n_answers=3)
    with Workspace(session, has_worker=False) as workspace:
        workspace.criterion("colour").split_group([0, 2])
    with Workspace(Session.open(path), has_worker=False) as workspace:
        criterion = workspace.criterion("colour")
        criterion.undo()
        assert criterion.criterion == before
        gallery = criterion.status.gallery()
        assert [group.key for group in gallery.groups] == ["g1", "g2"]
        assert len(gallery.new) == 0  # every image is in a group
        key, _ = criterion.split_group([4, 6])  # the group can be made again
        assert sorted(criterion.status.gallery().members[key].tolist()) == [4, 6]


def test_an_older_group_is_removed_after_the_newer_one(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    first, results = criterion.split_group([0, 2])
    second, _ = criterion.split_group([5, 7])
    for one in results:
        criterion.retract(one.id)
    assert sorted(criterion.status.gallery().members[second].tolist()) == [5, 7]
    assert criterion.criterion.n_clusters == 4
    criterion.undo()
    assert criterion.criterion.n_clusters == 2
    assert first not in criterion.status.gallery().members


def test_a_single_image_can_be_split_off(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    key, results = criterion.split_group([0])
    assert [one.accepted for one in results] == [True, True]  # differs from all groups; its label
    assert criterion.status.gallery().members[key].tolist() == [0]


def test_a_third_group_ends_the_rule_for_two_groups(folder: Path) -> None:
    session = make_session(folder, two_groups=True)
    save_half_results(session, n_answers=3)
    with Workspace(session, has_worker=False) as workspace:
        criterion = workspace.criterion("colour")
        criterion.answer(Question.pair(0, 1), "different")
        key, results = criterion.split_group([2, 4])
        assert all(one.accepted for one in results)
        assert criterion.criterion.two_groups is False
        assert sorted(criterion.status.gallery().members[key].tolist()) == [2, 4]


def test_a_split_of_all_images_or_of_unknown_ones_is_refused(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    with pytest.raises(InvalidParameterError, match="must leave images in the other groups"):
        criterion.split_group(list(range(12)))
    with pytest.raises(InvalidParameterError, match="Image 99 is not in this session"):
        criterion.split_group([99])
    assert trained_workspace.session.answers("colour") == []


def test_a_move_to_an_unknown_group_is_refused(trained_workspace: Workspace) -> None:
    with pytest.raises(UnknownNameError, match="'g9' is not a known group"):
        trained_workspace.criterion("colour").move_images([0], "g9")


def test_all_images_can_be_moved_to_one_group(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    criterion.move_images(list(range(12)), "g1")
    assert len(criterion.status.gallery().members["g1"]) == 12
    criterion.undo()
    assert len(criterion.status.gallery().members["g1"]) == 6


def test_images_can_be_moved_to_a_group_that_is_empty(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    criterion.move_images([0, 2, 4, 6, 8, 10], "g2")
    criterion.move_images([0, 2], "g1")
    assert sorted(criterion.status.gallery().members["g1"].tolist()) == [0, 2]
    criterion.move_images([0, 2], "g2")
    criterion.move_images([4], "g1")
    assert criterion.status.gallery().members["g1"].tolist() == [4]
    assert criterion.review.conflicts() == []


@pytest.mark.parametrize("content", ["", "[1]", '{"g3": false}', "null"])
def test_a_damaged_split_history_is_ignored(tmp_path: Path, content: str) -> None:
    (tmp_path / SplitHistory.FILE).write_text(content)
    history = SplitHistory(tmp_path)
    assert history.last in (None, "g")  # an object is read as its keys
    history.add("g3", had_two_groups=True)
    assert SplitHistory(tmp_path).remove_last() == ("g3", True)


def test_a_new_group_keeps_the_estimated_accuracy_until_the_next_training(
    trained_workspace: Workspace,
) -> None:
    session, criterion = trained_workspace.session, trained_workspace.criterion("colour")
    accuracy = {"estimate": 0.9, "low": 0.8, "high": 0.95, "n_wrong": 1.2, "n_checked": 3}
    chances = np.repeat([[0.9, 0.1], [0.2, 0.8]], 6, axis=0)
    save_results(
        session, "colour", chances, keys=("g1", "g2"), n_answers=3, quality={"accuracy": accuracy}
    )
    criterion.training_finished({})
    criterion.split_group([0, 2])
    assert criterion.status.quality == {"accuracy": accuracy}
    criterion.undo()
    assert criterion.status.quality == {"accuracy": accuracy}


def test_groups_made_during_a_training_are_kept_apart_when_it_ends(
    trained_workspace: Workspace,
) -> None:
    session, criterion = trained_workspace.session, trained_workspace.criterion("colour")

    def older_training_ends() -> None:
        save_half_results(session, n_answers=3)  # knows groups 1 and 2 only
        criterion.training_finished({})

    dusk, _ = criterion.split_group([0, 2], "dusk")
    older_training_ends()
    sea, _ = criterion.split_group([5], "sea")
    older_training_ends()
    gallery = criterion.status.gallery()
    assert [group.name for group in gallery.groups] == ["group 1", "group 2", "dusk", "sea"]
    assert sorted(gallery.members[dusk].tolist()) == [0, 2]
    assert gallery.members[sea].tolist() == [5]


@pytest.fixture
def without_third_group(trained_workspace: Workspace) -> Workspace:
    """Return a workspace with a group g3, which a later training has left out."""
    session, criterion = trained_workspace.session, trained_workspace.criterion("colour")
    chances = np.repeat([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], 4, axis=0)
    save_results(session, "colour", chances, keys=("g1", "g2", "g3"), n_answers=3)
    criterion.training_finished({})
    assert "g3" in criterion.status.gallery().members
    save_half_results(session, n_answers=4)
    criterion.training_finished({})
    assert "g3" not in criterion.status.gallery().members
    return trained_workspace


def test_images_can_be_moved_to_a_group_that_the_last_training_left_out(
    without_third_group: Workspace,
) -> None:
    criterion = without_third_group.criterion("colour")
    criterion.move_images([8, 9], "g3")
    assert sorted(criterion.status.gallery().members["g3"].tolist()) == [8, 9]
    criterion.undo()
    criterion.move_images([8], "g3")
    assert criterion.status.gallery().members["g3"].tolist() == [8]


def test_a_review_of_a_group_that_the_last_training_left_out_is_saved(
    without_third_group: Workspace,
) -> None:
    criterion = without_third_group.criterion("colour")
    question = criterion.grid_question([8, 9, 10, 11], "g3", [9])
    assert question == Question.grid((9, 10, 11), 8, "g3")
    assert criterion.answer(question, "ticked", ticked=[9]).result.accepted
    with pytest.raises(UnknownNameError, match="'g9' is not a known group"):
        criterion.grid_question([8, 9], "g9", [])
