"""The kernel learner: its leave-one-out predictions are those of really leaving one out."""

import numpy as np
import torch
import torch.nn.functional as F

from likewise.estimators.kernel.features import FeatureBlocks, pca_axes
from likewise.estimators.kernel.gp_classifier import GPClassifier, _squared
from likewise.estimators.kernel.loo_tuning import LeaveOneOut
from likewise.seeds import stream


def test_left_out_predictions_are_those_of_really_leaving_out() -> None:
    """Solve again without each image in turn; slow on purpose."""
    rng = stream(0, "loo")
    rows = torch.from_numpy(rng.normal(size=(9, 4)))
    D = _squared(rows, rows)[None, None]
    y = torch.from_numpy(rng.integers(0, 3, 9))
    Y = F.one_hot(y, 3).double()
    x = torch.tensor([0.2, 0.0, -0.3, -1.2, 0.4, -1.5], dtype=torch.double)
    chances = LeaveOneOut(D, y, 3, torch.ones(9, dtype=torch.double))._chances(
        x, torch.ones(9, dtype=torch.double)
    )
    K, mean, slips = torch.exp(-x[2].exp() * D[0, 0]), Y.mean(0), x[5].sigmoid()
    for i in range(9):
        others = [j for j in range(9) if j != i]
        inside = K[others][:, others] + x[3].exp() * torch.eye(8, dtype=torch.double)
        mu = mean + K[i, others] @ torch.linalg.solve(inside, Y[others] - mean)
        expected = (1 - slips) * (x[4].exp() * mu).softmax(0)[y[i]] + slips / 3
        torch.testing.assert_close(chances[i], expected)


def test_a_wrong_label_among_right_ones_is_found_and_right_ones_are_not() -> None:
    rng = stream(4, "slips")
    classes = np.arange(60) % 3
    rows = rng.normal(size=(60, 5)).astype(np.float32) * 0.4
    rows[np.arange(60), classes] += 3
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    said = classes.copy()
    said[[7, 30]] = (said[[7, 30]] + 1) % 3
    slipped = GPClassifier({"all": unit}).fit(np.arange(60), said, 3)
    assert set(np.flatnonzero(slipped > 0.5)) == {7, 30}
    assert GPClassifier({"all": unit}).fit(np.arange(60), classes, 3).max() < 0.5


def test_learns_a_line_between_two_groups_and_is_sure_far_from_it() -> None:
    rng = stream(1, "line")
    rows = rng.normal(size=(200, 2)).astype(np.float32)
    rows[:, 0] += np.where(np.arange(200) % 2, 4, -4)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    learner = GPClassifier({"all": unit})
    images = np.arange(20)
    learner.fit(images, images % 2, 2)
    found = learner.predict()
    assert (found.argmax(1) == np.arange(200) % 2).mean() > 0.97
    np.testing.assert_allclose(found.sum(1), 1, rtol=1e-5)


def test_little_trust_means_little_influence() -> None:
    unit = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.6, 0.8]], np.float32)
    learner = GPClassifier({"all": unit})
    images, classes = np.array([0, 1, 2]), np.array([0, 1, 1])
    learner.fit(images, classes, 2)
    trusting = learner.predict()[0, 0]
    learner.refit(images, classes, trust=np.array([1.0, 1.0, 0.01]))
    assert learner.predict()[0, 0] > trusting


def test_facets_become_unit_rows_of_few_directions() -> None:
    matrix = stream(2, "facets").normal(size=(50, 60)).astype(np.float32)
    matrix[:, 3] = 7.0  # says nothing
    raw = {"a": matrix[:, :20], "b": matrix[:, 20:]}
    space = FeatureBlocks(["a", "b"], width=8).fit(raw)
    rows = space(raw)
    assert rows["a"].shape == (50, 20)
    assert rows["b"].shape == (50, 8)
    for facet in rows.values():
        np.testing.assert_allclose(np.linalg.norm(facet, axis=1), 1, rtol=1e-5)
    few = space({name: columns[:3] for name, columns in raw.items()})
    np.testing.assert_allclose(few["b"], rows["b"][:3], atol=1e-6)


def test_leading_directions_are_those_of_all_eigenvectors() -> None:
    rng = stream(3, "leading")
    rows = (rng.normal(size=(80, 30)) * np.geomspace(10, 0.1, 30)).astype(np.float32)
    rows -= rows.mean(axis=0)
    axes = pca_axes(rows, 5)
    _, exact = np.linalg.eigh(rows.T.astype(float) @ rows)
    overlap = np.linalg.svd(axes.T @ exact[:, -5:])[1]
    np.testing.assert_allclose(overlap, 1, atol=1e-3)


def test_a_facet_weighs_the_same_part_of_every_view() -> None:
    rng = stream(5, "views")
    classes = np.arange(80) % 2
    loud = rng.normal(size=(80, 6)).astype(np.float32)
    quiet = rng.normal(size=(80, 6)).astype(np.float32)
    quiet[:, 0] += np.where(classes, 2, -2)
    facets = {"loud": loud, "quiet": quiet, "loud again": loud, "quiet again": quiet}
    unit = {n: x / np.linalg.norm(x, axis=1, keepdims=True) for n, x in facets.items()}
    learner = GPClassifier(unit, n_views=2)
    learner.fit(np.arange(40), classes[:40], 2)
    assert learner.tuning is not None
    weights = learner.tuning.weights.reshape(2, 2)
    np.testing.assert_allclose(weights.sum(), 1)
    np.testing.assert_allclose(weights[0] / weights[0].sum(), weights[1] / weights[1].sum())
    assert weights[0, 1] > weights[0, 0]
