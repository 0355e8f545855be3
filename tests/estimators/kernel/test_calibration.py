"""A model that was wrong when it was sure becomes less sure, and changes its mind about nothing."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_blobs

from likewise.constraints.question import Answer, Question
from likewise.encoders.embeddings import Embeddings
from likewise.estimators.kernel.calibration import (
    TemperatureScaler,
    allowed_classes,
    apply_temperature,
)
from likewise.estimators.kernel.likewise import Likewise
from likewise.metrics import expected_calibration_error
from likewise.oracles.simulated import LabelOracle
from likewise.seeds import stream

CHOICE = Question.choice(0, (1, 2), ("a", "b"))
PLACES = np.array([2, 0])  # of images 1 and 2


def drawn(
    n: int, right: float, sure: float, k: int = 4
) -> tuple[list[npt.NDArray[np.float32]], list[npt.NDArray[np.bool_]]]:
    """Return guesses as sure as said, of which a share is right."""
    rng, rows, left = stream(0, "drawn"), [], []
    for i in range(n):
        guess = int(rng.integers(k))
        row = np.full(k, (1 - sure) / (k - 1), dtype=np.float32)
        row[guess] = sure
        truth = guess if i < right * n else (guess + 1) % k
        rows.append(row)
        left.append(np.arange(k) == truth)
    return rows, left


def experienced(n: int = 80, right: float = 0.6, sure: float = 0.95) -> TemperatureScaler:
    experience = TemperatureScaler()
    for row, left in zip(*drawn(n, right, sure), strict=True):
        experience.note(row, left)
    return experience


@pytest.mark.parametrize(
    ("question", "said", "left"),
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
def test_an_answer_leaves_the_columns_it_does_not_exclude(
    question: Question, said: str, left: list[int] | None
) -> None:
    found = allowed_classes(Answer(question, said), PLACES[: len(question.images) - 1], 4)
    assert (None if found is None else np.flatnonzero(found).tolist()) == left


@pytest.mark.parametrize("left", [[True, True], [False, False]])
def test_an_answer_that_excludes_no_group_or_every_one_is_no_test(left: list[bool]) -> None:
    experience = TemperatureScaler()
    experience.note(np.array([0.9, 0.1], np.float32), np.array(left))
    experience.note(np.array([0.9, 0.1], np.float32), None)
    assert len(experience.arrays()["experience.said"]) == 0


@given(st.floats(0.3, 6.0), st.integers(0, 99))
def test_temperature_changes_no_argmax_and_rows_stay_distributions(
    temperature: float, seed: int
) -> None:
    rows = stream(seed, "rows").dirichlet(np.full(5, 0.4), size=20).astype(np.float32)
    found = apply_temperature(rows, temperature)
    np.testing.assert_array_equal(found.argmax(axis=1), rows.argmax(axis=1))
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)
    surer = found.max(axis=1) - rows.max(axis=1)
    assert (surer <= 1e-5).all() if temperature > 1 else (surer >= -1e-5).all()


def test_the_temperature_is_that_of_least_surprise() -> None:
    rows, left = drawn(80, right=0.6, sure=0.95)

    def cost(log_t: float) -> float:
        surprise = 0.0
        for row, is_left in zip(rows, left, strict=True):
            powers = row.astype(float) ** (1 / np.exp(log_t))
            surprise -= np.log(0.99 * powers[is_left].sum() / powers.sum() + 0.005)
        return float(surprise + log_t**2 / (2 * 0.2**2))

    best = minimize_scalar(cost, bounds=(-0.8, 1.6), method="bounded").x
    assert np.log(experienced().temperature()) == pytest.approx(best, abs=0.011)
    assert experienced().temperature() > 1.5


def test_one_that_was_as_right_as_sure_stays_as_it_is() -> None:
    assert experienced(right=0.95).temperature() == pytest.approx(1, abs=0.06)
    assert experienced(right=0.95, sure=0.5).temperature() < 1
    assert TemperatureScaler().temperature() == 1


def test_what_is_remembered_comes_back_from_disk_also_where_groups_were_added() -> None:
    experience, back, wide = experienced(), TemperatureScaler(), TemperatureScaler()
    for row, left in zip(*drawn(80, right=0.6, sure=0.95), strict=True):
        wide.note(np.append(row, np.float32(0)), np.append(left, False))
    for one in (experience, wide):
        one.note(np.array([0.5, 0.3, 0.1, 0.05, 0.05], np.float32), np.arange(5) == 1)
    back.take_arrays(experience.arrays())
    assert back.temperature() == experience.temperature() == wide.temperature() > 1.5


def test_probabilities_are_nearer_to_the_truth_and_labels_as_they_were() -> None:
    """A quiet criterion beside a loud one and noise: little reason to be sure."""
    errors = np.mean([_errors(seed) for seed in range(3)], axis=0)
    assert errors[1] < 0.9 * errors[0]


def test_a_pair_is_about_the_less_certain_of_its_two() -> None:
    X, truth = make_blobs([40, 40], n_features=6, random_state=0)
    model = Likewise(n_clusters=2, random_state=0).fit(
        X.astype(np.float32), oracle=LabelOracle(truth), n_questions=10
    )
    certainty = model._beliefs.max(axis=1)
    sure, unsure = int(certainty.argmax()), int(certainty.argmin())
    model.experience_ = TemperatureScaler()
    model._check_against(Answer(Question.pair(*sorted((sure, unsure))), "same"))
    (row,) = model.experience_.arrays()["experience.said"]
    np.testing.assert_array_equal(row, model._beliefs[unsure])


def _errors(seed: int) -> tuple[float, float]:
    """Return the calibration error on images in no answer, without and with experience."""
    rng = stream(seed, "hard")
    loud, quiet, centres = (
        rng.integers(0, 5, 500),
        rng.integers(0, 4, 500),
        rng.normal(size=(9, 12)),
    )
    facets = {
        "loud": 4 * centres[loud] + rng.normal(size=(500, 12)),
        "quiet": 0.6 * centres[5 + quiet] + rng.normal(size=(500, 12)),
        **{f"noise {i}": rng.normal(size=(500, 20)) for i in range(4)},
    }
    X = Embeddings({name: rows.astype(np.float32) for name, rows in facets.items()})
    model = Likewise(n_clusters=4, random_state=seed)
    model.fit(X, oracle=LabelOracle(quiet), n_questions=60)
    asked = {i for answer in model.constraints_.answers.values() for i in answer.question.images}
    rest = np.setdiff1d(np.arange(500), list(asked))
    names = np.array([np.bincount(quiet[model.labels_ == label]).argmax() for label in range(4)])
    before, after = model._beliefs[rest][:, model._columns], model.probabilities_[rest]
    np.testing.assert_array_equal(before.argmax(axis=1), after.argmax(axis=1))
    is_right = names[after.argmax(axis=1)] == quiet[rest]
    return (
        expected_calibration_error(before.max(axis=1), is_right),
        expected_calibration_error(after.max(axis=1), is_right),
    )
