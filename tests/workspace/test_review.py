"""Splitting off, doubts, slips, comparison, and looking at the folder again."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from likewise.constraints.facts import Fact, Told
from likewise.constraints.question import Question
from likewise.constraints.relation import Relation
from likewise.errors import CollectionError, InvalidParameterError
from likewise.session import Session, save_results
from likewise.workspace.gallery import compare
from likewise.workspace.question_queue import n_implied
from likewise.workspace.review import least_likely_answer
from likewise.workspace.training_job import label_issue_messages
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, paint_folder, save_half_results


class TestSplittingOff:
    def test_chosen_pictures_become_a_group_at_once_and_each_is_an_answer(
        self, trained_workspace: Workspace
    ) -> None:
        key, told = trained_workspace.criterion("colour").split_group([0, 2, 4], "dusk")
        assert [one.taken for one in told] == [True] * 3
        gallery = trained_workspace.criterion("colour").status.gallery()
        assert sorted(gallery.members[key].tolist()) == [0, 2, 4]
        assert [group.name for group in gallery.groups] == ["group 1", "group 2", "dusk"]
        assert [e.answer for e in trained_workspace.session.answers("colour")] == [key] * 3
        assert trained_workspace.session.criterion("colour").n_clusters == 3

    def test_it_is_there_after_a_restart_and_a_training_that_learned_nothing(
        self, trained_workspace: Workspace
    ) -> None:
        key, _ = trained_workspace.criterion("colour").split_group([0, 2])
        path = trained_workspace.session.path
        trained_workspace.close()
        with Workspace(Session.open(path), has_worker=False) as workspace:
            assert sorted(workspace.criterion("colour").status.gallery().members[key].tolist()) == [
                0,
                2,
            ]
            graph = workspace.session.graph("colour")
            assert graph.relation(0, 2) is Relation.SAME
            assert graph.relation(0, 10) is Relation.DIFFERENT  # which stands for the reds

    @pytest.mark.parametrize("two_groups", [False, True])
    def test_what_was_split_off_is_undone_whole_also_after_a_restart(
        self, folder: Path, two_groups: bool
    ) -> None:
        session = make_session(folder, two_groups=two_groups)
        before, path = session.criterion("colour"), session.path
        save_half_results(session, n_answers=3)
        with Workspace(session, has_worker=False) as workspace:
            workspace.criterion("colour").split_group([0, 2])
        with Workspace(Session.open(path), has_worker=False) as workspace:
            workspace.criterion("colour").undo()
            assert (
                len(workspace.criterion("colour").status.gallery().groups) == 3
            )  # one answer holds it
            workspace.criterion("colour").undo()
            assert workspace.session.criterion("colour") == before
            gallery = workspace.criterion("colour").status.gallery()
            assert [group.key for group in gallery.groups] == ["g1", "g2"]
            assert len(gallery.new) == 0  # all are somewhere
            key, _ = workspace.criterion("colour").split_group([4, 6])  # and again
            assert sorted(workspace.criterion("colour").status.gallery().members[key].tolist()) == [
                4,
                6,
            ]

    def test_of_two_that_were_split_off_the_later_keeps_its_place(
        self, trained_workspace: Workspace
    ) -> None:
        first, told = trained_workspace.criterion("colour").split_group([0, 2])
        second, _ = trained_workspace.criterion("colour").split_group([5, 7])
        for one in told:
            trained_workspace.criterion("colour").retract(one.id)
        members = trained_workspace.criterion("colour").status.gallery().members
        assert sorted(members[second].tolist()) == [5, 7]
        assert trained_workspace.session.criterion("colour").n_clusters == 4
        trained_workspace.criterion("colour").undo()
        trained_workspace.criterion("colour").undo()
        assert trained_workspace.session.criterion("colour").n_clusters == 2
        assert first not in trained_workspace.criterion("colour").status.gallery().members

    def test_one_picture_alone_may_be_split_off(self, trained_workspace: Workspace) -> None:
        key, told = trained_workspace.criterion("colour").split_group([0])
        assert [one.taken for one in told] == [True, True]  # unlike all groups, and its name
        assert trained_workspace.criterion("colour").status.gallery().members[key].tolist() == [0]

    def test_two_groups_that_become_three_are_no_longer_two(self, folder: Path) -> None:
        session = make_session(folder, two_groups=True)
        save_half_results(session, n_answers=3)
        with Workspace(session, has_worker=False) as workspace:
            workspace.criterion("colour").answer(Question.pair(0, 1), "different")
            key, told = workspace.criterion("colour").split_group([2, 4])
            assert all(one.taken for one in told)
            assert workspace.session.criterion("colour").two_groups is False
            assert sorted(workspace.criterion("colour").status.gallery().members[key].tolist()) == [
                2,
                4,
            ]

    def test_what_answers_tie_to_the_rest_becomes_a_contradiction(
        self, trained_workspace: Workspace
    ) -> None:
        trained_workspace.criterion("colour").answer(Question.pair(0, 10), "same")
        _, told = trained_workspace.criterion("colour").split_group([0, 2])
        assert [one.taken for one in told] == [False, True]
        (conflict,) = trained_workspace.criterion("colour").review.conflicts()
        assert {entry.answer for entry in conflict.against} == {"same"}

    def test_all_pictures_or_strange_ones_are_refused(self, trained_workspace: Workspace) -> None:
        with pytest.raises(InvalidParameterError, match="nothing would be left"):
            trained_workspace.criterion("colour").split_group(list(range(12)))
        with pytest.raises(InvalidParameterError, match="Picture 99 is not in this session"):
            trained_workspace.criterion("colour").split_group([99])
        assert trained_workspace.session.answers("colour") == []


class TestDoubts:
    def suspects(self) -> list[SimpleNamespace]:
        chain = (Fact(7, 0, 2, Relation.SAME), Fact(8, 2, 4, Relation.SAME))
        return [SimpleNamespace(answer=7, image=0, surprise=0.93, chain=chain)]

    def test_a_method_speaks_of_its_own_numbers_and_the_page_of_the_logs(self) -> None:
        sent = label_issue_messages(self.suspects(), {7: 1, 8: 2}, [40, 41, 42])
        assert sent == [{"answer": 1, "image": 40, "probability": 0.93, "evidence": [1, 2]}]
        assert label_issue_messages(self.suspects(), {8: 2}, [40, 41, 42]) == []

    def test_they_are_offered_until_taken_back_or_stood_by_also_after_a_restart(
        self, trained_workspace: Workspace
    ) -> None:
        for other in (2, 4, 6):
            trained_workspace.criterion("colour").answer(Question.pair(0, other), "same")
        message = {
            "event": "trained",
            "criterion": "colour",
            "label_issues": [
                {"answer": number, "image": 0, "probability": 0.9, "evidence": [number, 2]}
                for number in (1, 3)
            ],
        }
        trained_workspace._receive(message)
        criterion = trained_workspace.criterion("colour")
        assert [doubt.entry.id for doubt in criterion.review.label_issues()] == [1, 3]
        assert [entry.id for entry in criterion.review.label_issues()[0].chain] == [1, 2]
        trained_workspace.criterion("colour").confirm(1)
        trained_workspace.criterion("colour").retract(3)
        assert criterion.review.label_issues() == []
        path = trained_workspace.session.path
        trained_workspace.close()
        with Workspace(Session.open(path), has_worker=False) as workspace:
            one = {"answer": 1, "image": 0, "probability": 0.9, "evidence": []}
            workspace._receive({**message, "label_issues": [one]})
            assert workspace.criterion("colour").review.label_issues() == []

    def test_standing_by_an_answer_confirms_the_image_it_was_doubted_for(
        self, trained_workspace: Workspace
    ) -> None:
        asked = Question.choice(4, (0, 1), ("g1", "g2"))
        for question, word in [(Question.pair(0, 2), "same"), (asked, "g1")] * 2:
            trained_workspace.criterion("colour").answer(question, word)
        heard = {"event": "trained", "criterion": "colour"}
        one = {"answer": 1, "image": 2, "probability": 0.9, "evidence": [1]}
        trained_workspace._receive({**heard, "label_issues": [one]})
        trained_workspace._receive(
            {**heard, "label_issues": []}
        )  # a page may still show what was said before
        for number in (1, 2, 3):
            trained_workspace.criterion("colour").confirm(number)
        assert trained_workspace.session.confirmed("colour") == {1: (2,), 2: (4,), 3: (0, 2)}

    def test_nobody_stands_by_what_does_not_stand(self, trained_workspace: Workspace) -> None:
        number = trained_workspace.criterion("colour").answer(Question.pair(0, 2), "same").result.id
        trained_workspace.criterion("colour").retract(number)
        for gone in (number, 99):
            with pytest.raises(InvalidParameterError, match=f"Answer {gone} by 'colour' does not"):
                trained_workspace.criterion("colour").confirm(gone)
        assert trained_workspace.session.confirmed("colour") == {}

    def test_undo_takes_back_that_it_is_right_though_it_was_said_twice(
        self, trained_workspace: Workspace
    ) -> None:
        number = trained_workspace.criterion("colour").answer(Question.pair(0, 2), "same").result.id
        one = {"answer": number, "image": 0, "probability": 0.9, "evidence": []}
        trained_workspace._receive(
            {"event": "trained", "criterion": "colour", "label_issues": [one]}
        )
        criterion = trained_workspace.criterion("colour")
        for _ in range(2):  # two pages at once
            trained_workspace.criterion("colour").confirm(number, "ann")
        assert criterion.review.label_issues() == []
        assert trained_workspace.criterion("colour").undo("bob") is None  # who said nothing
        said = trained_workspace.criterion("colour").undo("ann")
        assert said is not None
        assert said.kind == "confirm"
        assert [doubt.entry.id for doubt in criterion.review.label_issues()] == [number]
        assert trained_workspace.criterion("colour").undo() is not None  # and the answer itself
        assert criterion.review.label_issues() == []


def test_the_likely_slip_is_the_answer_the_model_believes_least(
    trained_workspace: Workspace,
) -> None:
    for pair, word in [((0, 10), "same"), ((10, 11), "same")]:  # red and red; red and blue
        trained_workspace.criterion("colour").answer(Question.pair(*pair), word)
    trained_workspace.criterion("colour").answer(Question.pair(0, 11), "different")
    criterion = trained_workspace.criterion("colour")
    (conflict,) = criterion.review.conflicts()
    entries, positions = (
        (conflict.entry, *conflict.against),
        trained_workspace.session.images.positions,
    )
    assert least_likely_answer(entries, criterion.status.results, positions) == 2
    assert least_likely_answer(entries, None, positions) is None


def test_answers_that_find_no_place_are_listed(folder: Path) -> None:
    session = make_session(folder)  # two places, and three groups that differ
    save_half_results(session, n_answers=3)
    with Workspace(session, has_worker=False) as workspace:
        criterion = workspace.criterion("colour")
        for pair in [(0, 1), (0, 2)]:
            workspace.criterion("colour").answer(Question.pair(*pair), "different")
        assert criterion.review.violated_answers() == []
        workspace.criterion("colour").answer(Question.pair(1, 2), "different")
        assert len(criterion.review.violated_answers()) == 1


@pytest.mark.parametrize(
    ("question", "n_settled", "n_also"),
    [
        (Question.pair(0, 1), 1, 0),
        (Question.pair(0, 1), 15, 14),
        (Question.choice(0, (1, 2), ("a", "b")), 5, 3),
        (Question.choice(0, (1, 2), ("a", "b")), 1, 0),
    ],
)
def test_what_was_asked_does_not_count_as_settled_besides(
    question: Question, n_settled: int, n_also: int
) -> None:
    assert n_implied(question, Told(1, taken=True, n_settled=n_settled)) == n_also


def test_two_ways_to_sort_are_counted_against_each_other(trained_workspace: Workspace) -> None:
    session = trained_workspace.session
    session.add_criterion("halves", 2)
    chances = np.repeat([[0.9, 0.1], [0.2, 0.8]], 6, axis=0)
    save_results(session, "halves", chances, keys=("g1", "g2"), n_answers=1)
    galleries = [
        trained_workspace.criterion(name).status.gallery() for name in ("colour", "halves")
    ]
    found = compare(galleries[0], galleries[1], n_shown=2)
    assert found.counts.tolist() == [[3, 3], [3, 3]]
    assert found.pictures[0][1].tolist() == [10, 8]  # red and of the second half, the surest
    assert (round(found.nmi, 6), found.n_images) == (0, 12)
    assert compare(galleries[0], galleries[0]).ari == pytest.approx(1)


class TestTheFolderAgain:
    def test_new_pictures_are_found_and_lost_ones_noted(
        self, trained_workspace: Workspace, folder: Path, tmp_path: Path
    ) -> None:
        heard: list[str] = []
        trained_workspace.events.subscribe(lambda message: heard.append(message["event"]))
        assert trained_workspace.rescan() is None
        extra = paint_folder(tmp_path / "extra", 14)
        for name in ("12red.png", "13blue.png"):
            shutil.copy(extra / name, folder / name)
        (folder / "00red.png").unlink()
        changes = trained_workspace.rescan()
        assert changes is not None
        assert (changes.added, changes.missing) == ((12, 13), (0,))
        assert heard == ["pictures"]
        gallery = trained_workspace.criterion("colour").status.gallery()
        assert sorted(gallery.new.tolist()) == [12, 13]  # in no group until they are embedded
        assert 0 not in gallery.members["g1"].tolist()
        assert trained_workspace.thumbnails.thumbnail(13)[:4] == b"RIFF"
        assert (
            trained_workspace.criterion("colour").answer(Question.pair(2, 12), "same").result.taken
        )

    def test_a_folder_that_vanishes_is_said_so_and_nothing_is_noted_as_lost(
        self, trained_workspace: Workspace, folder: Path
    ) -> None:
        away = folder.rename(folder.with_name("away"))
        with pytest.raises(CollectionError, match=r"cannot be reached.*does not exist.*kept"):
            trained_workspace.rescan()
        assert trained_workspace.folder_problem is not None
        assert trained_workspace.session.images.n_missing == 0
        trained_workspace.criterion("colour").answer(Question.pair(0, 2), "same")
        away.rename(folder)
        assert trained_workspace.rescan() is None
        assert trained_workspace.folder_problem is None

    def test_a_picture_that_breaks_is_left_out_and_comes_back(
        self, trained_workspace: Workspace, folder: Path
    ) -> None:
        whole = (folder / "00red.png").read_bytes()
        (folder / "00red.png").write_bytes(whole[:100])
        changes = trained_workspace.rescan()
        assert changes is not None
        assert changes.broken == (0,)
        (folder / "00red.png").write_bytes(whole)
        changes = trained_workspace.rescan()
        assert changes is not None
        assert changes.returned == (0,)
