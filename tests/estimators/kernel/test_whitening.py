"""Within-class whitening: its map by slow loops, what it does to groups, and the two stages."""

from collections.abc import Callable

import numpy as np
import pytest

from likewise.errors import ModelFileError
from likewise.estimators.kernel.training_set import TrainingSet
from likewise.estimators.kernel.two_stage import TwoStageLearner, fit_whitening
from likewise.estimators.release_0_1 import upgrade_likewise_state
from likewise.random_streams import stream


def _unit(rows: np.ndarray) -> np.ndarray:
    unit: np.ndarray = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def test_the_map_is_that_of_the_equation_written_as_loops() -> None:
    rng = stream(0, "aim")
    x = rng.normal(size=(30, 4)).astype(np.float32)
    q = rng.dirichlet(np.ones(3), size=30).astype(np.float32)
    c = [max(row) ** 4 for row in q.astype(float)]
    means = [
        sum(c[i] * q[i, k] * x[i] for i in range(30)) / sum(c[i] * q[i, k] for i in range(30))
        for k in range(3)
    ]
    S = np.zeros((4, 4))
    for i in range(30):
        rest = x[i] - sum(q[i, k] * means[k] for k in range(3))
        S += c[i] * np.outer(rest, rest) / sum(c)
    shrunk = S + 0.3 * np.trace(S) / 4 * np.eye(4)
    whitening = fit_whitening(x, q, 4)
    A = whitening.axes.astype(float)
    np.testing.assert_allclose(A, A.T, atol=1e-5)  # the symmetric root
    np.testing.assert_allclose(A @ shrunk @ A, np.eye(4), atol=1e-4)
    expected = _unit((x - x.mean(axis=0)) @ A)
    np.testing.assert_allclose(whitening(x), expected, atol=1e-5)


def test_many_columns_become_few() -> None:
    x = stream(1, "wide").normal(size=(50, 90)).astype(np.float32)
    whitening = fit_whitening(x, np.full((50, 2), 0.5, np.float32), 8)
    assert whitening(x).shape == (50, 8)


def _loud_and_quiet(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with eleven large directions unrelated to the group, and a small one that is."""
    rng = stream(seed, "loud")
    groups = np.arange(600) % 2
    rows = rng.normal(size=(600, 12))
    rows[:, 0] += np.where(groups, 2, -2)
    rows[:, 1:] *= 4
    return _unit(rows), groups


def _labels(groups: np.ndarray, n: int) -> TrainingSet:
    return TrainingSet(np.arange(n), groups[:n], np.ones(n), 2)


def test_directions_that_vary_within_groups_count_less() -> None:
    rows, groups = _loud_and_quiet()
    probabilities = np.eye(2, dtype=np.float32)[groups]

    def gap(within_class: bool) -> float:
        seen = fit_whitening(rows, probabilities, 12, within_class=within_class)(rows)
        cosines, same = seen @ seen.T, groups[:, None] == groups
        return float(cosines[same].mean() - cosines[~same].mean())

    assert gap(True) > 1.5 * gap(False)


def test_the_second_stage_on_whitened_rows_is_more_accurate() -> None:
    """In each of three draws; 1.5 points on average."""
    for seed in range(3):
        rows, groups = _loud_and_quiet(seed)
        right = {}
        for within_class in (True, False):
            learner = TwoStageLearner({"all": rows}, within_class=within_class)
            learner.fit_weights(_labels(groups, 60))
            learner.fit(_labels(groups, 60), lambda training, predict_at: training)
            right[within_class] = (learner.predict()[1].argmax(axis=1) == groups)[60:].mean()
        assert right[True] > right[False]


def test_predictions_for_given_blocks_equal_those_for_all_images() -> None:
    rows, groups = _loud_and_quiet()
    learner = TwoStageLearner({"all": rows})
    learner.fit_weights(_labels(groups, 40))
    learner.fit(_labels(groups, 40), lambda training, predict_at: training)
    seen, probabilities = learner.predict()
    some, predicted = learner.predict({"all": rows[100:103]})
    np.testing.assert_allclose(some, seen[100:103], atol=1e-6)
    np.testing.assert_allclose(predicted, probabilities[100:103], atol=1e-6)


def test_pseudo_labels_come_from_the_predictions_of_the_same_stage() -> None:
    """First from weighted blocks, then from whitened rows: never from an earlier training."""
    rows, groups = _loud_and_quiet()
    training = _labels(groups, 40)
    predicted: list[np.ndarray] = []

    def add(given: TrainingSet, predict_at: Callable[..., np.ndarray]) -> TrainingSet:
        assert given is training
        predicted.append(predict_at(np.arange(50, 90)))
        return given

    learner = TwoStageLearner({"all": rows})
    learner.fit_weights(training)
    learner.fit(training, add)
    first, second = predicted
    assert not np.allclose(first, second)
    np.testing.assert_allclose(second, learner.predict()[1][50:90], atol=1e-6)


def test_a_model_saved_before_release_0_1_is_refused() -> None:
    """It would be read as one that has no answers."""
    with pytest.raises(ModelFileError, match=r"saved by a version before.*train it again"):
        upgrade_likewise_state({"kernel.weights": np.ones(2), "kernel.axes": np.eye(2)})
