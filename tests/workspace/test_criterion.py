"""Answers, undo and groups of one criterion, through its session."""

from pathlib import Path

import pytest

from likewise.constraints.question import Answer, Question, Relation
from likewise.errors import InvalidParameterError
from likewise.session import Session
from likewise.workspace.criterion import _AnswerRequest
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, save_half_results


def test_an_answer_is_on_disk_when_the_call_returns(workspace: Workspace) -> None:
    outcome = workspace.criterion("colour").answer(Question.pair(0, 2), "same", "ada", 1.5)
    with Session.open(workspace.session.path, write=False) as other:
        (entry,) = other.answers("colour")
    assert (entry.id, entry.answer) == (outcome.result.id, "same")
    assert (entry.who, entry.seconds) == ("ada", 1.5)


def test_an_answer_sent_twice_is_saved_once(workspace: Workspace) -> None:
    criterion = workspace.criterion("colour")
    first = criterion.answer(Question.pair(0, 2), "same", "ada")
    again = criterion.answer(Question.pair(0, 2), "same", "ada")
    assert again.result.id == first.result.id
    assert len(workspace.session.answers("colour")) == 1


def test_an_answer_twice_in_one_batch_is_saved_once(workspace: Workspace) -> None:
    answer = Answer(Question.pair(0, 2), "same", who="ada", criterion="colour")
    given = _AnswerRequest(answer, n_next=1, client="ada")
    first, again = workspace.criterion("colour")._save_answers([given] * 2)
    assert first.result.id == again.result.id == 1
    assert len(workspace.session.answers("colour")) == 1
    assert first.questions  # the next ones are in the outcome


def test_an_outcome_contains_as_many_next_questions_as_asked_for(workspace: Workspace) -> None:
    criterion = workspace.criterion("colour")
    assert criterion.answer(Question.pair(0, 2), "same").questions == []
    outcome = criterion.answer(Question.pair(0, 4), "same", n_next=3, client="tab")
    assert outcome.questions == criterion.questions(3, "tab")
    assert len(outcome.questions) == 3


def test_undo_works_after_a_restart(session: Session) -> None:
    path = session.path
    with Workspace(session, has_worker=False) as workspace:
        for other in (2, 4, 6):
            workspace.criterion("colour").answer(Question.pair(0, other), "same")
    with Workspace(Session.open(path), has_worker=False) as workspace:
        criterion = workspace.criterion("colour")
        undone = [criterion.undo() for _ in range(4)]
        assert [None if entry is None else entry.id for entry in undone] == [3, 2, 1, None]
        assert workspace.session.answers("colour") == []
        assert criterion.questions(99)[0].kind == "pair"


def test_undo_in_a_criterion_without_groups_does_nothing(folder: Path) -> None:
    with Workspace(make_session(folder, k=None), has_worker=False) as workspace:
        assert workspace.criterion("colour").undo() is None


def test_with_two_groups_the_third_pair_is_implied(folder: Path) -> None:
    with Workspace(make_session(folder, two_groups=True), has_worker=False) as workspace:
        criterion = workspace.criterion("colour")
        criterion.answer(Question.pair(0, 1), "different")
        assert criterion.answer(Question.pair(1, 2), "different").result.n_settled == 2


def test_criteria_share_images_and_nothing_else(workspace: Workspace) -> None:
    workspace.add_criterion("mood", 3)
    workspace.criterion("mood").answer(Question.pair(0, 1), "same")
    assert workspace.criterion("colour").status.n_answers == 0
    assert workspace.criterion("mood").status.counts()["same"] == 1


def test_no_answer_counts_as_violated_once_it_is_undone(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    criterion.answer(Question.pair(0, 1), "same")
    criterion.training_finished({"n_violations": 1})
    assert criterion.status.n_violations == 1
    criterion.undo()
    assert criterion.status.n_violations == 0


class TestMovedImages:
    def test_each_is_an_answer_and_stays_in_its_group(self, trained_workspace: Workspace) -> None:
        criterion = trained_workspace.criterion("colour")
        results = criterion.move_images([0, 2], "g2")
        assert [one.accepted for one in results] == [True, True]
        assert {0, 2} <= set(criterion.status.gallery().members["g2"].tolist())
        kinds = [entry.kind for entry in trained_workspace.session.answers("colour")]
        assert kinds == ["choice", "choice"]
        save_half_results(trained_workspace.session)  # by a model that has not learned it
        criterion.status.load()
        assert {0, 2} <= set(criterion.status.gallery().members["g2"].tolist())

    def test_they_can_be_a_whole_group(self, trained_workspace: Workspace) -> None:
        criterion = trained_workspace.criterion("colour")
        criterion.move_images([0, 2, 4, 6, 8, 10], "g2")
        assert len(criterion.status.gallery().members["g1"]) == 0


class TestGroupChanges:
    def test_names_and_colours_are_kept_after_a_training(
        self, trained_workspace: Workspace
    ) -> None:
        criterion = trained_workspace.criterion("colour")
        criterion.change_group("g2", name="sea")
        before = [(g.key, g.name, g.colour) for g in criterion.status.gallery().groups]
        save_half_results(trained_workspace.session)
        criterion.status.load()
        after = [(g.key, g.name, g.colour) for g in criterion.status.gallery().groups]
        assert after == before
        assert before[1][1] == "sea"

    def test_merged_groups_are_shown_as_one(self, trained_workspace: Workspace) -> None:
        criterion = trained_workspace.criterion("colour")
        criterion.change_group("g2", merge_into="g1")
        assert [len(m) for m in criterion.status.gallery().members.values()] == [12]

    @pytest.mark.parametrize(
        ("change", "events"),
        [({"name": "sea"}, ["groups"]), ({"merge_into": "g1"}, ["groups", "answers"])],
    )
    def test_events_are_published(
        self, trained_workspace: Workspace, change: dict[str, str], events: list[str]
    ) -> None:
        published: list[str] = []
        trained_workspace.events.subscribe(lambda message: published.append(message["event"]))
        trained_workspace.criterion("colour").change_group(
            "g2", name=change.get("name"), merge_into=change.get("merge_into")
        )
        assert published == events


class TestConfirmedAnswers:
    def test_the_image_of_the_label_issue_is_confirmed_else_the_image_of_the_question(
        self, trained_workspace: Workspace
    ) -> None:
        criterion = trained_workspace.criterion("colour")
        choice = Question.choice(4, (0, 1), ("g1", "g2"))
        for question, answer in [(Question.pair(0, 2), "same"), (choice, "g1")] * 2:
            criterion.answer(question, answer)
        issue = {"answer": 1, "image": 2, "probability": 0.9, "evidence": [1]}
        criterion.review.set_label_issues([issue])
        criterion.review.set_label_issues([])  # a page may still show the previous ones
        for number in (1, 2, 3):
            criterion.confirm(number)
        confirmed = trained_workspace.session.confirmed("colour")
        assert confirmed == {1: (2,), 2: (4,), 3: (0, 2)}

    def test_only_an_active_answer_can_be_confirmed(self, trained_workspace: Workspace) -> None:
        criterion = trained_workspace.criterion("colour")
        number = criterion.answer(Question.pair(0, 2), "same").result.id
        criterion.retract(number)
        for other in (number, 99):
            message = f"answer {other} of criterion 'colour' is not active"
            with pytest.raises(InvalidParameterError, match=message):
                criterion.confirm(other)
        assert trained_workspace.session.confirmed("colour") == {}

    def test_undo_retracts_a_confirmation_that_was_sent_twice(
        self, trained_workspace: Workspace
    ) -> None:
        criterion = trained_workspace.criterion("colour")
        number = criterion.answer(Question.pair(0, 2), "same").result.id
        issue = {"answer": number, "image": 0, "probability": 0.9, "evidence": []}
        criterion.review.set_label_issues([issue])
        for _ in range(2):  # two pages at once
            criterion.confirm(number, "ann")
        assert criterion.review.label_issues() == []
        assert criterion.undo("bob") is None  # who confirmed nothing
        undone = criterion.undo("ann")
        assert undone is not None
        assert undone.kind == "confirm"
        assert [one.entry.id for one in criterion.review.label_issues()] == [number]
        assert criterion.undo() is not None  # the answer itself
        assert criterion.review.label_issues() == []


def test_a_retraction_makes_another_answer_valid(workspace: Workspace) -> None:
    criterion = workspace.criterion("colour")
    for pair in [(0, 2), (2, 4)]:
        criterion.answer(Question.pair(*pair), "same")
    criterion.answer(Question.pair(0, 4), "different")
    criterion.retract(1)
    assert criterion.review.conflicts() == []
    assert workspace.session.graph("colour").relation(0, 4) is Relation.DIFFERENT
