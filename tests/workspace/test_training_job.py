"""The training job of the worker, without a process."""

from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from likewise.constraints.constraint import Constraint
from likewise.constraints.question import Answer, Question, Relation
from likewise.embedding.embeddings import Embeddings
from likewise.images.files import read_folder
from likewise.session import Session
from likewise.session.results import load_results
from likewise.types import Indexes
from likewise.workspace.training_job import (
    SessionVectors,
    TrainingJob,
    label_issue_messages,
)
from likewise.workspace.worker_process import Message
from tests.embedding.tiny_clip import MARKS, paint_folder, save_tiny_clip
from tests.session.pictures import pictures

WRONG, WITHOUT_ROW = 5, 2  # an image with a wrong answer; an image without a vector


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Two groups, of even and odd images, and 35 answers of which one is wrong."""
    session = Session.create(tmp_path / "two.likewise", pictures(60))
    session.add_criterion("colour", 2)
    session.tell(Answer(Question.pair(0, 1), "different", criterion="colour"))
    for image in range(3, 37):
        is_same = (image % 2 == 0) != (image == WRONG)
        answer = "same" if is_same else "different"
        session.tell(Answer(Question.pair(0, image), answer, criterion="colour"))
    return session


def make_job(session: Session, sent: list[Message]) -> TrainingJob:
    X, _ = make_blobs([30, 30], n_features=8, shuffle=False, random_state=0)
    rows = np.concatenate(list(zip(X[:30], X[30:], strict=True)))  # even and odd
    positions = np.array([i for i in range(60) if i != WITHOUT_ROW])
    embeddings = Embeddings({"x": rows[positions].astype(np.float32)})
    vectors = SessionVectors(embeddings, positions, 60)
    return TrainingJob(session, session.criterion("colour"), vectors, sent.append)


def run(job: TrainingJob, session: Session, sent: list[Message]) -> tuple[list[Message], bool]:
    """Return the label issues that a run sends, and whether it trained."""
    sent.clear()
    job.run(session.criterion("colour"))
    (end,) = (one for one in sent if one["event"] == "trained")
    return end["label_issues"], any(one["event"] == "training" for one in sent)


def test_images_placed_in_one_group_beside_different_examples_are_the_same_to_the_model(
    session: Session,
) -> None:
    session.make_groups("colour", ["group 1", "group 2"])
    choices = [
        Question.choice(40, (42, 43), ("g1", "g2")),
        Question.choice(44, (46, 47), ("g1", "g2")),
    ]
    numbers = [session.tell(Answer(one, "g1", criterion="colour")).id for one in choices]
    sent: list[Message] = []
    job = make_job(session, sent)
    run(job, session, sent)
    first, second = int(job._row[40]), int(job._row[44])
    assert job.model.constraints_.relation(first, second) is Relation.SAME
    session.retract(numbers[1])
    run(job, session, sent)
    assert job.model.constraints_.relation(first, second) is Relation.UNKNOWN


def test_a_confirmed_answer_is_not_a_label_issue_also_after_a_restart(session: Session) -> None:
    sent: list[Message] = []
    job = make_job(session, sent)
    (issue,), _ = run(job, session, sent)
    (number,) = (
        n for n, a in session.graph("colour").answers.items() if a.question.images == (0, WRONG)
    )
    assert (issue["answer"], issue["image"]) == (number, WRONG)
    row = WRONG - 1  # one image before it has no row
    assert job.model.learner_.label_issues.label_errors[row] > 0.2

    session.confirm("colour", number, [WRONG])
    assert run(job, session, sent) == ([], True)  # trained again because of the confirmation
    assert run(job, session, sent) == ([], False)
    assert job.model.learner_.label_issues.label_errors[row] == 0
    again = make_job(session, sent)
    assert run(again, session, sent) == ([], True)
    assert again.model.learner_.label_issues.label_errors[row] == 0


def test_the_results_have_the_accuracy_estimate_also_after_a_restart(session: Session) -> None:
    sent: list[Message] = []
    job = make_job(session, sent)
    run(job, session, sent)
    results = load_results(session, "colour")
    assert results is not None
    assert results.quality["accuracy"] == asdict(job.model.accuracy_estimate_)
    assert results.quality["advice"] == asdict(job.model.advice_)
    assert 20 < results.quality["accuracy"]["n_checked"] <= 35
    again = make_job(session, sent)
    run(again, session, sent)
    assert again.model.learner_.temperature == job.model.learner_.temperature
    assert load_results(session, "colour").quality == results.quality  # type: ignore[union-attr]


def test_fit_only_trains_and_saves_nothing(session: Session) -> None:
    sent: list[Message] = []
    session.make_groups("colour", ["dusk", "dawn"])
    for image, key in [(40, "g2"), (41, "g1")]:
        session.tell(Answer(Question.label(image), key, criterion="colour"))
    job = make_job(session, sent)
    assert job.fit_only() == ("g1", "g2")
    assert sent == []
    assert not session.model_folder("colour").exists()
    assert job.model.labels_[39] == 1  # the number of its group, for every order of the clusters
    saving = make_job(session, sent)
    run(saving, session, sent)
    np.testing.assert_array_equal(job.model.labels_, saving.model.labels_)
    assert session.model_folder("colour").exists()


def test_merged_groups_are_one_for_the_model_until_the_merge_is_undone(session: Session) -> None:
    sent: list[Message] = []
    session.make_groups("colour", ["dusk", "dawn"])
    for image, key in [(40, "g1"), (41, "g2")]:
        session.tell(Answer(Question.label(image), key, criterion="colour"))
    job = make_job(session, sent)
    run(job, session, sent)

    def relation() -> Relation:
        return job.model.constraints_.relation(39, 40)  # rows of images 40 and 41

    assert relation() is Relation.DIFFERENT
    session.change_group("colour", "g2", merge_into="g1")
    assert run(job, session, sent)[1]
    assert relation() is Relation.SAME
    assert not run(job, session, sent)[1]
    session.undo("colour")
    assert run(job, session, sent)[1]
    assert relation() is Relation.DIFFERENT


def test_retracted_answers_and_conflicts_confirm_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Message] = []
    job = make_job(session, sent)
    numbers = list(session.graph("colour").answers)
    conflict = session.tell(Answer(Question.pair(0, 6), "different", criterion="colour"))
    assert not conflict.accepted
    session.confirm("colour", conflict.id, [6])
    session.confirm("colour", numbers[0], [WITHOUT_ROW])
    session.confirm("colour", numbers[2], [WRONG])
    run(job, session, sent)
    assert job.model.learner_.label_issues.confirmed == {WRONG - 1}
    session.retract(numbers[2])
    run(job, session, sent)
    assert job.model.learner_.label_issues.confirmed == set()
    assert len(session.confirmed("colour")) == 3
    added_since = {numbers[1]: (60,)}  # an image that was added after the vectors were loaded
    monkeypatch.setattr(session, "confirmed", lambda _: added_since)
    run(job, session, sent)
    assert job.model.learner_.label_issues.confirmed == set()


def test_label_issues_are_sent_with_ids_of_the_log_and_positions_of_the_session() -> None:
    proof = (Constraint(7, 0, 2, Relation.SAME), Constraint(8, 2, 4, Relation.SAME))
    issues = [SimpleNamespace(answer_id=7, image=0, probability=0.93, proof=proof)]
    sent = label_issue_messages(issues, {7: 1, 8: 2}, [40, 41, 42])
    assert sent == [{"answer": 1, "image": 40, "probability": 0.93, "evidence": [1, 2]}]
    assert label_issue_messages(issues, {8: 2}, [40, 41, 42]) == []


def groups_of(session: Session) -> Indexes:
    results = load_results(session, "mark")
    assert results is not None
    return results.labels


def test_names_of_groups_are_a_prior_where_the_encoder_knows_text(tmp_path: Path) -> None:
    save_tiny_clip(tmp_path / "clip")
    _, marks = paint_folder(tmp_path / "photos")
    with Session.create(tmp_path / "photos.likewise", read_folder(tmp_path / "photos")) as session:
        session.add_criterion("mark", 2)
        vectors = SessionVectors.load(session, str(tmp_path / "clip"), lambda _: None)
        job = TrainingJob(session, session.criterion("mark"), vectors, lambda _: None)
        session.make_groups("mark", ["group 1", "group 2"])  # as the page does
        job.run(session.criterion("mark"))
        words = job.model.words
        assert words is None

        session.change_group("mark", "g1", name="white")
        session.change_group("mark", "g2", name="black")
        job.run(session.criterion("mark"))
        assert job.model.words == MARKS
        agreement = np.mean(groups_of(session) == marks)
        assert max(agreement, 1 - agreement) > 0.9
        whites = np.flatnonzero(np.array(marks) == 0)[:3].tolist()
        blacks = np.flatnonzero(np.array(marks) == 1)[:3].tolist()
        for image, key in [*((i, "g1") for i in whites), *((i, "g2") for i in blacks)]:
            session.tell(Answer(Question.label(image), key, criterion="mark"))
        job.run(session.criterion("mark"))
        assert np.mean(groups_of(session) == marks) > 0.9  # in the groups of those names
