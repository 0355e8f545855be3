"""The space turned to the criterion: its map by slow loops, and what it does to groups."""

import numpy as np
import pytest
import torch

from likewise.errors import ModelFileError
from likewise.estimators.kernel.training_set import TrainingSet
from likewise.estimators.kernel.two_stage import TwoStageLearner
from likewise.estimators.kernel.whitening import fit_whitening
from likewise.seeds import stream


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
    aim = fit_whitening(x, q, 4)
    A = aim.axes.numpy().astype(float)
    np.testing.assert_allclose(A, A.T, atol=1e-5)  # the symmetric root
    np.testing.assert_allclose(A @ shrunk @ A, np.eye(4), atol=1e-4)
    expected = _unit((x - x.mean(axis=0)) @ A)
    np.testing.assert_allclose(aim(torch.from_numpy(x)).numpy(), expected, atol=1e-5)


def test_many_columns_become_few() -> None:
    x = stream(1, "wide").normal(size=(50, 90)).astype(np.float32)
    aim = fit_whitening(x, np.full((50, 2), 0.5, np.float32), 8)
    assert aim(torch.from_numpy(x)).shape == (50, 8)


def _loud_and_quiet(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of which eleven loud directions say nothing of the group, and one quiet does."""
    rng = stream(seed, "loud")
    groups = np.arange(600) % 2
    rows = rng.normal(size=(600, 12))
    rows[:, 0] += np.where(groups, 2, -2)
    rows[:, 1:] *= 4
    return _unit(rows), groups


def test_what_varies_within_groups_counts_less() -> None:
    rows, groups = _loud_and_quiet()
    beliefs = np.eye(2, dtype=np.float32)[groups]

    def nearness_within(targeted: bool) -> float:
        seen = fit_whitening(rows, beliefs, 12, targeted=targeted)(torch.from_numpy(rows)).numpy()
        cosines, same = seen @ seen.T, groups[:, None] == groups
        return float(cosines[same].mean() - cosines[~same].mean())

    assert nearness_within(True) > 1.5 * nearness_within(False)


def test_learning_once_more_in_the_turned_space_gets_more_right() -> None:
    """In each of three draws; 1.5 points on average."""
    for seed in range(3):
        rows, groups = _loud_and_quiet(seed)
        lesson = TrainingSet(np.arange(60), groups[:60], np.ones(60), 2)
        right = {}
        for targeted in (True, False):
            learner = TwoStageLearner({"all": rows}, targeted=targeted)
            learner.weigh(lesson)
            learner.learn(lesson, lambda lesson, believe: lesson)
            right[targeted] = (learner.read_out()[1].argmax(axis=1) == groups)[60:].mean()
        assert right[True] > right[False]


def test_what_is_read_out_of_given_facets_is_what_is_read_out_of_all_images() -> None:
    rows, groups = _loud_and_quiet()
    lesson = TrainingSet(np.arange(40), groups[:40], np.ones(40), 2)
    learner = TwoStageLearner({"all": rows})
    learner.weigh(lesson)
    learner.learn(lesson, lambda lesson, believe: lesson)
    seen, beliefs = learner.read_out()
    some, believed = learner.read_out({"all": rows[100:103]})
    np.testing.assert_allclose(some, seen[100:103], atol=1e-6)
    np.testing.assert_allclose(believed, beliefs[100:103], atol=1e-6)


def test_guesses_are_grown_from_what_is_believed_at_that_time() -> None:
    """First from weighed facets, then from the turned space: never from what was before."""
    rows, groups = _loud_and_quiet()
    lesson = TrainingSet(np.arange(40), groups[:40], np.ones(40), 2)
    heard: list[np.ndarray] = []

    def grow(given: TrainingSet, believe):  # type: ignore[no-untyped-def]
        assert given is lesson
        heard.append(believe(np.arange(50, 90)))
        return given

    learner = TwoStageLearner({"all": rows})
    learner.weigh(lesson)
    learner.learn(lesson, grow)
    first, second = heard
    assert not np.allclose(first, second)
    np.testing.assert_allclose(second, learner.read_out()[1][50:90], atol=1e-6)


def test_a_model_of_an_earlier_release_is_refused_in_words() -> None:
    """It would be read as one that has heard no answer."""
    with pytest.raises(ModelFileError, match=r"saved by an earlier release.*train it again"):
        TwoStageLearner({}).take_arrays({"kernel.weights": np.ones(2), "kernel.axes": np.eye(2)})
