from pathlib import Path

import pytest

from likewise.constraints.question import Question
from likewise.errors import SessionError
from likewise.workspace.status import PredictedAnswers
from likewise.workspace.workspace import Workspace


def test_a_criterion_without_results_has_no_gallery_and_no_progress(workspace: Workspace) -> None:
    status = workspace.criterion("colour").status
    assert (status.results, status.version, status.progress()) == (None, 0, None)
    with pytest.raises(SessionError, match="Criterion 'colour' has no groups yet"):
        status.gallery()


def test_progress_counts_the_predicted_answers_and_is_kept(trained_workspace: Workspace) -> None:
    criterion = trained_workspace.criterion("colour")
    outcomes = [
        criterion.answer(Question.pair(*pair), answer).predicted
        for pair, answer in [((0, 2), "same"), ((0, 1), "different"), ((0, 4), "different")]
    ]
    assert outcomes == [True, True, False]
    progress = criterion.status.progress()
    assert progress is not None
    assert progress.n_checked == 3
    assert progress.agreement == pytest.approx(2 / 3)
    criterion.status.load()
    folder = trained_workspace.session.model_folder("colour")
    assert (folder / "predicted_answers.json").read_text() == "[true, true, false]"
    assert PredictedAnswers(folder).outcomes == [True, True, False]


def test_the_file_of_release_0_1_is_read_until_there_is_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "agreement.json").write_text("[true, false]")
    predicted = PredictedAnswers(tmp_path)
    assert predicted.outcomes == [True, False]
    predicted.outcomes = [False]
    predicted.save()
    assert PredictedAnswers(tmp_path).outcomes == [False]


@pytest.mark.parametrize("content", ["", "{", '{"a": 1}', "\udcff"])
def test_a_damaged_file_of_predicted_answers_is_ignored(tmp_path: Path, content: str) -> None:
    (tmp_path / "predicted_answers.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert PredictedAnswers(tmp_path).outcomes == []


def test_a_conflict_is_counted_as_an_answer_but_not_compared_with_the_prediction(
    trained_workspace: Workspace,
) -> None:
    criterion = trained_workspace.criterion("colour")
    criterion.answer(Question.pair(0, 2), "same")
    outcome = criterion.answer(Question.pair(0, 2), "different")
    assert (outcome.result.accepted, outcome.predicted) == (False, None)
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
