from pathlib import Path

from likewise.constraints.question import Question
from likewise.session import Session
from likewise.workspace.review import least_likely_answer
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, save_half_results


def test_a_conflict_contains_the_answers_that_imply_the_opposite(workspace: Workspace) -> None:
    criterion = workspace.criterion("colour")
    for pair in [(0, 2), (2, 4)]:
        criterion.answer(Question.pair(*pair), "same")
    outcome = criterion.answer(Question.pair(0, 4), "different")
    assert outcome.result.accepted is False
    assert outcome.conflict is not None
    assert [entry.id for entry in outcome.conflict.against] == [1, 2]
    assert set(outcome.conflict.images) == {0, 2, 4}
    criterion.retract(1)
    assert criterion.review.conflicts() == []


def test_the_suspected_answer_is_the_one_the_model_finds_least_likely(
    trained_workspace: Workspace,
) -> None:
    criterion = trained_workspace.criterion("colour")
    for pair in [(0, 10), (10, 11)]:  # red and red; red and blue
        criterion.answer(Question.pair(*pair), "same")
    criterion.answer(Question.pair(0, 11), "different")
    (conflict,) = criterion.review.conflicts()
    assert criterion.review.suspected_answer(conflict) == 2
    entries = (conflict.entry, *conflict.against)
    assert least_likely_answer(entries, None, trained_workspace.session.images.positions) is None


def test_label_issues_are_listed_until_retracted_or_confirmed_also_after_a_restart(
    trained_workspace: Workspace,
) -> None:
    criterion = trained_workspace.criterion("colour")
    for other in (2, 4, 6):
        criterion.answer(Question.pair(0, other), "same")
    message = {"event": "trained", "criterion": "colour"}
    issues = [
        {"answer": number, "image": 0, "probability": 0.9, "evidence": [number, 2]}
        for number in (1, 3)
    ]
    trained_workspace._receive({**message, "label_issues": issues})
    assert [issue.entry.id for issue in criterion.review.label_issues()] == [1, 3]
    assert [entry.id for entry in criterion.review.label_issues()[0].evidence] == [1, 2]
    criterion.confirm(1)
    criterion.retract(3)
    assert criterion.review.label_issues() == []
    path = trained_workspace.session.path
    trained_workspace.close()
    with Workspace(Session.open(path), has_worker=False) as workspace:
        workspace._receive({**message, "label_issues": issues[:1]})
        assert workspace.criterion("colour").review.label_issues() == []


def test_label_issues_are_not_published(trained_workspace: Workspace) -> None:
    published: list[dict[str, object]] = []
    trained_workspace.events.subscribe(published.append)
    message = {"event": "trained", "criterion": "colour", "n_violations": 2, "label_issues": []}
    trained_workspace._receive(message)
    assert published == [{"event": "trained", "criterion": "colour", "n_violations": 2}]
    assert trained_workspace.criterion("colour").status.n_violations == 2


def test_answers_that_the_groups_violate_are_listed(folder: Path) -> None:
    session = make_session(folder)  # two groups, and three images that differ from each other
    save_half_results(session, n_answers=3)
    with Workspace(session, has_worker=False) as workspace:
        criterion = workspace.criterion("colour")
        for pair in [(0, 1), (0, 2)]:
            criterion.answer(Question.pair(*pair), "different")
        assert criterion.review.violated_answers() == []
        criterion.answer(Question.pair(1, 2), "different")
        assert len(criterion.review.violated_answers()) == 1
