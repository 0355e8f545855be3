"""Temperature scaling makes an overconfident model less certain and changes no label."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from likewise.embedding.embeddings import Embeddings
from likewise.estimators.kernel.held_out import Checked, apply_temperature, fit_temperature
from likewise.estimators.kernel.likewise import Likewise
from likewise.metrics import expected_calibration_error
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream


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


def checked(n: int = 80, right: float = 0.6, confidence: float = 0.95) -> Checked:
    rows, allowed = predictions(n, right, confidence)
    return Checked(
        np.arange(n), np.array(rows), np.array(allowed), np.zeros(n, dtype=bool), np.full(n, 20)
    )


def fitted(n: int = 80, right: float = 0.6, confidence: float = 0.95) -> float:
    return fit_temperature(checked(n, right, confidence))


def test_predictions_of_models_with_few_labels_count_less() -> None:
    """Wrong ones of a model with 5 labels, right ones of a model with 50."""
    old, new = checked(40, right=0.2), checked(40, right=0.95)
    arrays = {
        name: np.concatenate([getattr(old, name), getattr(new, name)])
        for name in ("images", "probabilities", "allowed", "is_random")
    }
    both = [
        fit_temperature(Checked(**arrays, n_labels=np.repeat([n_old, 50], 40))) for n_old in (5, 50)
    ]
    assert fit_temperature(new) < both[0] < 0.8 * both[1]


@pytest.mark.parametrize("n", [0, 1])
def test_an_answer_that_excludes_no_group_does_not_count(n: int) -> None:
    rows = np.tile(np.array([0.9, 0.1], np.float32), (n, 1))
    allowed = np.ones((n, 2), dtype=bool)
    given = np.arange(n), rows, allowed, np.zeros(n, dtype=bool)
    assert fit_temperature(Checked(*given, np.arange(n))) == 1


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
        return float(nll + (log_t - 0.4) ** 2 / (2 * 0.5**2))

    best = minimize_scalar(cost, bounds=(-0.8, 1.6), method="bounded").x
    assert np.log(fitted()) == pytest.approx(best, abs=0.011)
    assert fitted() > 1.5


def test_a_calibrated_model_keeps_its_temperature() -> None:
    assert fitted(right=0.95) == pytest.approx(1, abs=0.15)
    assert fitted(right=0.95, confidence=0.5) < 1
    assert fit_temperature(Checked.empty()) == 1


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
    model = Likewise(n_clusters=4, kinds="pair,choice", random_state=seed)
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
