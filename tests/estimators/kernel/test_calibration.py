"""Temperature scaling makes an overconfident model less certain and changes no label."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_blobs

from likewise.constraints.constraint import allowed_classes, was_predicted
from likewise.constraints.question import Answer, Question
from likewise.embedding.embeddings import Embeddings
from likewise.estimators.kernel.calibration import (
    TemperatureScaler,
    apply_temperature,
    estimate_progress,
)
from likewise.estimators.kernel.likewise import Likewise
from likewise.metrics import expected_calibration_error
from likewise.oracles.simulated import LabelOracle
from likewise.random_streams import stream

CHOICE = Question.choice(0, (1, 2), ("a", "b"))
COLUMNS = np.array([2, 0])  # of images 1 and 2


def predictions(
    n: int, right: float, confidence: float, k: int = 4
) -> tuple[list[npt.NDArray[np.float32]], list[npt.NDArray[np.bool_]]]:
    """Return predictions with this confidence, of which a share is right."""
    rng, rows, allowed = stream(0, "drawn"), [], []
    for i in range(n):
        predicted = int(rng.integers(k))
        row = np.full(k, (1 - confidence) / (k - 1), dtype=np.float32)
        row[predicted] = confidence
        truth = predicted if i < right * n else (predicted + 1) % k
        rows.append(row)
        allowed.append(np.arange(k) == truth)
    return rows, allowed


def fitted(n: int = 80, right: float = 0.6, confidence: float = 0.95) -> TemperatureScaler:
    scaler = TemperatureScaler()
    for row, allowed in zip(*predictions(n, right, confidence), strict=True):
        scaler.record(row, allowed)
    return scaler


# -- what an answer allows ------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "answer", "allowed"),
    [
        (Question.pair(0, 1), "same", [2]),
        (Question.pair(0, 1), "different", [0, 1, 3]),
        (CHOICE, "b", [0]),
        (CHOICE, "none", [1, 3]),
        (CHOICE, "new", [1, 3]),
        (CHOICE, "cannot_tell", None),
        (CHOICE, "bad_image", None),
        (Question.label(0), "red", None),
    ],
)
def test_an_answer_allows_the_columns_it_does_not_exclude(
    question: Question, answer: str, allowed: list[int] | None
) -> None:
    columns = COLUMNS[: len(question.images) - 1]
    found = allowed_classes(Answer(question, answer), columns, 4)
    assert (None if found is None else np.flatnonzero(found).tolist()) == allowed


def test_an_answer_was_predicted_if_the_most_likely_classes_give_it() -> None:
    p = np.eye(3, dtype=np.float32)[[0, 0, 1, 2]]
    assert was_predicted(Answer(Question.pair(0, 1), "same"), p) is True
    assert was_predicted(Answer(Question.pair(0, 2), "same"), p) is False
    assert was_predicted(Answer(Question.pair(0, 2), "different"), p) is True
    choice = Question.choice(1, (2, 0), ("a", "b"))
    assert was_predicted(Answer(choice, "b"), p) is True
    assert was_predicted(Answer(choice, "a"), p) is False
    assert was_predicted(Answer(choice, "new"), p) is False
    assert was_predicted(Answer(Question.pair(0, 1), "cannot_tell"), p) is None


# -- temperature ----------------------------------------------------------------


@pytest.mark.parametrize("allowed", [[True, True], [False, False]])
def test_an_answer_that_excludes_no_group_or_every_group_is_not_recorded(
    allowed: list[bool],
) -> None:
    scaler = TemperatureScaler()
    scaler.record(np.array([0.9, 0.1], np.float32), np.array(allowed))
    scaler.record(np.array([0.9, 0.1], np.float32), None)
    assert len(scaler.get_state()["temperature.probabilities"]) == 0


@given(st.floats(0.3, 6.0), st.integers(0, 99))
def test_temperature_changes_no_argmax_and_rows_stay_distributions(
    temperature: float, seed: int
) -> None:
    rows = stream(seed, "rows").dirichlet(np.full(5, 0.4), size=20).astype(np.float32)
    found = apply_temperature(rows, temperature)
    np.testing.assert_array_equal(found.argmax(axis=1), rows.argmax(axis=1))
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)
    change = found.max(axis=1) - rows.max(axis=1)
    assert (change <= 1e-5).all() if temperature > 1 else (change >= -1e-5).all()


def test_the_temperature_has_the_smallest_negative_log_likelihood() -> None:
    rows, allowed = predictions(80, right=0.6, confidence=0.95)

    def cost(log_t: float) -> float:
        nll = 0.0
        for row, is_allowed in zip(rows, allowed, strict=True):
            powers = row.astype(float) ** (1 / np.exp(log_t))
            nll -= np.log(0.99 * powers[is_allowed].sum() / powers.sum() + 0.005)
        return float(nll + log_t**2 / (2 * 0.2**2))

    best = minimize_scalar(cost, bounds=(-0.8, 1.6), method="bounded").x
    assert np.log(fitted().temperature()) == pytest.approx(best, abs=0.011)
    assert fitted().temperature() > 1.5


def test_a_calibrated_model_keeps_its_temperature() -> None:
    assert fitted(right=0.95).temperature() == pytest.approx(1, abs=0.06)
    assert fitted(right=0.95, confidence=0.5).temperature() < 1
    assert TemperatureScaler().temperature() == 1


def test_the_state_is_restored_also_where_groups_were_added() -> None:
    scaler, restored, wide = fitted(), TemperatureScaler(), TemperatureScaler()
    for row, allowed in zip(*predictions(80, right=0.6, confidence=0.95), strict=True):
        wide.record(np.append(row, np.float32(0)), np.append(allowed, False))
    for one in (scaler, wide):
        one.record(np.array([0.5, 0.3, 0.1, 0.05, 0.05], np.float32), np.arange(5) == 1)
    restored.set_state(scaler.get_state())
    assert restored.temperature() == scaler.temperature() == wide.temperature() > 1.5


def test_the_state_of_release_0_1_is_restored() -> None:
    probabilities, allowed = fitted().get_state().values()
    restored = TemperatureScaler()
    restored.set_state({"experience.said": probabilities, "experience.left": allowed})
    assert restored.temperature() == fitted().temperature()


def test_a_pair_is_recorded_for_the_less_certain_of_its_images() -> None:
    X, truth = make_blobs([40, 40], n_features=6, random_state=0)
    model = Likewise(n_clusters=2, random_state=0).fit(
        X.astype(np.float32), oracle=LabelOracle(truth), n_questions=10
    )
    probabilities = model.learner_.probabilities
    certainty = probabilities.max(axis=1)
    certain, uncertain = int(certainty.argmax()), int(certainty.argmin())
    model.learner_.temperature_scaler = TemperatureScaler()
    model.tell_one(Answer(Question.pair(*sorted((certain, uncertain))), "same"))
    (row,) = model.temperature_scaler_.get_state()["temperature.probabilities"]
    np.testing.assert_array_equal(row, probabilities[uncertain])


def test_calibrated_probabilities_are_nearer_to_the_truth_and_labels_unchanged() -> None:
    """A weak criterion beside a strong one and noise."""
    errors = np.mean([_calibration_errors(seed) for seed in range(3)], axis=0)
    assert errors[1] < 0.9 * errors[0]


def _calibration_errors(seed: int) -> tuple[float, float]:
    """Return the calibration error on images in no answer, before and after scaling."""
    rng = stream(seed, "hard")
    strong, weak, centres = (
        rng.integers(0, 5, 500),
        rng.integers(0, 4, 500),
        rng.normal(size=(9, 12)),
    )
    blocks = {
        "loud": 4 * centres[strong] + rng.normal(size=(500, 12)),
        "quiet": 0.6 * centres[5 + weak] + rng.normal(size=(500, 12)),
        **{f"noise {i}": rng.normal(size=(500, 20)) for i in range(4)},
    }
    X = Embeddings({name: rows.astype(np.float32) for name, rows in blocks.items()})
    model = Likewise(n_clusters=4, random_state=seed)
    model.fit(X, oracle=LabelOracle(weak), n_questions=60)
    asked = {i for answer in model.constraints_.answers.values() for i in answer.question.images}
    rest = np.setdiff1d(np.arange(500), list(asked))
    names = np.array([np.bincount(weak[model.labels_ == label]).argmax() for label in range(4)])
    before = model.learner_.probabilities[rest][:, model.columns_]
    after = model.probabilities_[rest]
    np.testing.assert_array_equal(before.argmax(axis=1), after.argmax(axis=1))
    is_right = names[after.argmax(axis=1)] == weak[rest]
    return (
        expected_calibration_error(before.max(axis=1), is_right),
        expected_calibration_error(after.max(axis=1), is_right),
    )


# -- progress -------------------------------------------------------------------


def test_the_progress_estimate_counts_recent_answers_and_uncertain_images() -> None:
    p = np.tile(np.array([0.75, 0.25], np.float32), (8, 1))
    found = estimate_progress([True] * 30 + [False] * 5 + [True] * 45, p, n_labeled=4)
    assert found.n_checked == 50
    assert found.agreement == 0.9
    assert found.low < 0.9 < found.high
    assert found.expected_accuracy == pytest.approx(0.75)
    assert found.expected_changes == pytest.approx(1)  # a quarter of the four open images
    without = estimate_progress([], p, n_labeled=0)
    assert (without.n_checked, without.agreement, without.low, without.high) == (0, None, 0, 1)
