"""The report: learning curve, confusions, sizes, and that it is one safe HTML file."""

import re
from pathlib import Path

import numpy as np
import pytest

from likewise.constraints.question import Answer, Question
from likewise.embedding.embeddings import Embeddings
from likewise.embedding.user_encoders import FunctionEncoder
from likewise.errors import SessionError
from likewise.session import Session
from likewise.workspace.report import confusions, curve_svg, learning_curve, make_report
from likewise.workspace.training_job import SessionVectors
from tests.workspace.images import save_half_results


def colours(images: list) -> np.ndarray:  # type: ignore[type-arg]
    return np.array([np.asarray(image).mean((0, 1)) for image in images])


ENCODER = FunctionEncoder(colours)


def tell_all(session: Session) -> None:
    """Say that all images are as the first one, or different, by the mean of red and blue."""
    pixels = SessionVectors.of(session, ENCODER, session.images.askable).embeddings.matrix()
    is_red = pixels[:, 0] > pixels[:, 2]
    (name,) = [one.name for one in session.criteria]
    for image in range(1, 9):
        answer = "same" if is_red[image] == is_red[0] else "different"
        session.tell(Answer(Question.pair(0, image), answer, criterion=name))


def test_the_curve_replays_the_active_answers(session: Session) -> None:
    tell_all(session)
    (criterion,) = session.criteria
    session.undo(criterion.name)
    vectors = SessionVectors.of(session, ENCODER, session.images.askable)
    told: list[tuple[int, int]] = []
    points = learning_curve(session, criterion.name, vectors, lambda *at: told.append(at))
    assert [point.n_answers for point in points] == list(range(8))
    assert points[-1].agreement == 1
    assert all(p.accuracy.low <= p.accuracy.estimate <= p.accuracy.high for p in points)
    assert told[0] == (0, 8)
    assert told[-1] == (8, 8)
    drawn = re.search(r'<polyline points="([^"]+)"', curve_svg(points))
    assert drawn is not None
    assert len(drawn[1].split()) == 8


def test_confusions_are_expected_numbers_of_images() -> None:
    probabilities = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.5, 0.5]], np.float32)
    labels = np.array([0, 0, 1, -1])
    np.testing.assert_allclose(confusions(probabilities, labels), [[0, 0.5], [0.2, 0]])
    np.testing.assert_allclose(confusions(probabilities, labels, [1]), [[0, 0.1], [0.2, 0]])


def test_the_report_is_one_file_without_scripts_and_links(session: Session) -> None:
    tell_all(session)
    save_half_results(session, n_answers=3)
    (criterion,) = session.criteria
    session.make_groups(criterion.name, ["<script>alert(1)</script>", "blue"])
    page = make_report(session, criterion.name, ENCODER)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert page.count('<svg class="curve"') == 1
    assert "Learning curve" in page
    assert "Confusions" in page
    n_images = int(session.images.present.sum())
    assert f"{n_images:,} images, 8 answers" in page
    sizes = [int(n) for n in re.findall(r"</meter></td><td>(\d+)</td>", page)]
    assert sum(sizes) == n_images
    assert page.count("data:image/webp;base64,") >= min(n_images, 12)
    assert "<svg" not in make_report(session, criterion.name)


def test_without_results_there_is_no_report(session: Session) -> None:
    (criterion,) = session.criteria
    with pytest.raises(SessionError, match="has no groups yet; train it first"):
        make_report(session, criterion.name)


def test_embeddings_of_any_width_are_replayed(session: Session, tmp_path: Path) -> None:
    """Answers about images without a vector are left out."""
    tell_all(session)
    (criterion,) = session.criteria
    positions = np.array([i for i in session.images.askable if i != 3])
    rows = np.random.default_rng(0).normal(size=(len(positions), 4)).astype(np.float32)
    vectors = SessionVectors(Embeddings({"x": rows}), positions, len(session.images))
    points = learning_curve(session, criterion.name, vectors)
    assert points[-1].n_answers == 7
