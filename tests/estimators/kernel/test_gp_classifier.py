"""The GP classifier: its leave-one-out predictions are those of retraining without each label."""

import numpy as np
from scipy.optimize import check_grad
from scipy.special import expit, softmax

from likewise.estimators.kernel.gp_classifier import GPClassifier, squared_distances
from likewise.estimators.kernel.loo_tuning import LeaveOneOut
from likewise.random_streams import stream


def test_leave_one_out_predictions_equal_those_of_retraining() -> None:
    """Solve again without each image in turn; slow on purpose."""
    rng = stream(0, "loo")
    rows = rng.normal(size=(9, 4))
    distances = squared_distances(rows, rows)[None, None]
    y = rng.integers(0, 3, 9)
    targets = np.eye(3)[y]
    x = np.array([0.2, 0.0, -0.3, -1.2, 0.4, -1.5])
    found = LeaveOneOut(distances, y, 3, np.ones(9)).label_probabilities(x, np.ones(9))
    kernel, mean, noise = np.exp(-np.exp(x[2]) * distances[0, 0]), targets.mean(0), expit(x[5])
    for i in range(9):
        others = [j for j in range(9) if j != i]
        inside = kernel[others][:, others] + np.exp(x[3]) * np.eye(8)
        mu = mean + kernel[i, others] @ np.linalg.solve(inside, targets[others] - mean)
        expected = (1 - noise) * softmax(np.exp(x[4]) * mu)[y[i]] + noise / 3
        np.testing.assert_allclose(found[i], expected)


def test_the_gradient_equals_finite_differences() -> None:
    rng = stream(1, "gradient")
    rows = rng.normal(size=(2, 3, 12, 5))  # two views of three blocks
    distances = ((rows[:, :, :, None] - rows[:, :, None]) ** 2).sum(axis=-1)
    weight = rng.uniform(0.1, 1, 12)
    leave_one_out = LeaveOneOut(distances, rng.integers(0, 3, 12), 3, weight)

    def cost(x: np.ndarray) -> float:
        return leave_one_out.cost_and_gradient(x)[0]

    def gradient(x: np.ndarray) -> np.ndarray:
        return leave_one_out.cost_and_gradient(x)[1]

    for _ in range(5):
        assert check_grad(cost, gradient, rng.normal(size=9)) < 1e-6


def test_wrong_labels_among_right_ones_are_found() -> None:
    rng = stream(4, "slips")
    classes = np.arange(60) % 3
    rows = rng.normal(size=(60, 5)).astype(np.float32) * 0.4
    rows[np.arange(60), classes] += 3
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    given = classes.copy()
    given[[7, 30]] = (given[[7, 30]] + 1) % 3
    errors = GPClassifier({"all": unit}).fit(np.arange(60), given, 3)
    assert set(np.flatnonzero(errors > 0.5)) == {7, 30}
    assert GPClassifier({"all": unit}).fit(np.arange(60), classes, 3).max() < 0.5


def test_separates_two_groups_with_confidence() -> None:
    rng = stream(1, "line")
    rows = rng.normal(size=(200, 2)).astype(np.float32)
    rows[:, 0] += np.where(np.arange(200) % 2, 4, -4)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    classifier = GPClassifier({"all": unit})
    images = np.arange(20)
    classifier.fit(images, images % 2, 2)
    found = classifier.predict_proba()
    assert (found.argmax(1) == np.arange(200) % 2).mean() > 0.97
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)


def test_a_small_sample_weight_means_little_influence() -> None:
    unit = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.6, 0.8]], np.float32)
    classifier = GPClassifier({"all": unit})
    images, classes = np.array([0, 1, 2]), np.array([0, 1, 1])
    classifier.fit(images, classes, 2)
    before = classifier.predict_proba()[0, 0]
    classifier.refit(images, classes, sample_weight=np.array([1.0, 1.0, 0.01]))
    assert classifier.predict_proba()[0, 0] > before


def test_a_block_has_the_same_share_in_every_view() -> None:
    rng = stream(5, "views")
    classes = np.arange(80) % 2
    loud = rng.normal(size=(80, 6)).astype(np.float32)
    quiet = rng.normal(size=(80, 6)).astype(np.float32)
    quiet[:, 0] += np.where(classes, 2, -2)
    blocks = {"loud": loud, "quiet": quiet, "loud again": loud, "quiet again": quiet}
    unit = {n: x / np.linalg.norm(x, axis=1, keepdims=True) for n, x in blocks.items()}
    classifier = GPClassifier(unit, n_views=2)
    classifier.fit(np.arange(40), classes[:40], 2)
    assert classifier.hyperparameters is not None
    weights = classifier.hyperparameters.weights.reshape(2, 2)
    np.testing.assert_allclose(weights.sum(), 1)
    np.testing.assert_allclose(weights[0] / weights[0].sum(), weights[1] / weights[1].sum())
    assert weights[0, 1] > weights[0, 0]


def test_predictions_do_not_depend_on_the_other_images() -> None:
    rng = stream(6, "independent")
    rows = rng.normal(size=(5_000, 4)).astype(np.float32)  # more than one chunk
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    classifier = GPClassifier({"all": unit})
    classifier.fit(np.arange(30), np.arange(30) % 3, 3)
    some = np.array([3, 2_500, 4_999])
    together = classifier.predict_proba()[some]
    np.testing.assert_allclose(classifier.predict_proba_at(some), together, atol=1e-6)
