"""The estimated accuracy: its interval covers the truth, and says how much is known."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import expit, logit
from sklearn.datasets import make_blobs

from likewise.estimators.kernel.accuracy_estimate import (
    AccuracyEstimate,
    advise,
    estimate_accuracy,
)
from likewise.estimators.kernel.held_out import Checked, audit_sample, is_audit_due
from likewise.estimators.kernel.likewise import Likewise
from likewise.metrics import accuracy
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream

Array = npt.NDArray[np.float32]
N_IMAGES = 600


def drawn(
    rng: np.random.Generator, n: int, offset: float, harder: float = 0.0
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return confidences, and whether each prediction is right; `harder`: by how much less."""
    confidence = np.clip(rng.beta(4, 1.5, size=n), 0.34, 0.99)
    right = rng.random(n) < expit(logit(confidence) + offset - harder)
    return confidence.astype(np.float32), right


def checked(rng: np.random.Generator, n: int, offset: float, harder: float = 0.25) -> Checked:
    """Return held-out predictions among three groups; one in eight is about a random image.

    The others are about images that were selected, and are harder than their confidence says.
    """
    is_random = np.arange(n) % 8 == 0
    confidence, right = drawn(rng, n, offset, harder)
    confidence[is_random], right[is_random] = drawn(rng, int(is_random.sum()), offset)
    rows = np.stack([confidence, *[(1 - confidence) / 2] * 2], axis=1)
    allowed = np.zeros((n, 3), dtype=bool)
    allowed[np.arange(n), np.where(right, 0, 1)] = True
    return Checked(np.arange(n), rows.astype(np.float32), allowed, is_random, np.full(n, 50))


def estimate(found: Checked, confidence: Array) -> AccuracyEstimate:
    nothing = np.zeros(len(confidence), dtype=bool)
    return estimate_accuracy(found, 1.0, confidence, nothing, 0.0, seed=0)


@pytest.mark.parametrize("harder", [0.25, 1.5])
@pytest.mark.parametrize("n", [12, 40, 100])
def test_the_interval_covers_the_accuracy_at_its_rate(n: int, harder: float) -> None:
    """Models that are more or less certain than they should be, and selected images hard ones."""
    n_covered, errors, widths = 0, [], []
    for trial in range(60):
        rng = stream(trial, "estimate")
        offset = rng.normal(0, 0.5)
        confidence, right = drawn(rng, N_IMAGES, offset)
        found = estimate(checked(rng, n, offset, harder), confidence)
        n_covered += found.low <= right.mean() <= found.high
        errors.append(found.estimate - right.mean())
        widths.append(found.high - found.low)
    assert n_covered >= 0.85 * 60
    assert abs(np.mean(errors)) < 0.06
    assert np.mean(widths) < {12: 0.72, 40: 0.5, 100: 0.38}[n]


def test_more_predictions_give_a_smaller_interval() -> None:
    confidence = drawn(stream(0, "all"), N_IMAGES, 0)[0]
    found = [estimate(checked(stream(0, "some"), n, 0), confidence) for n in (5, 20, 80, 320)]
    widths = [one.high - one.low for one in found]
    assert widths == sorted(widths, reverse=True)
    assert [one.n_checked for one in found] == [5, 20, 80, 320]
    assert found[-1].n_wrong == pytest.approx(N_IMAGES * (1 - found[-1].estimate))


def test_predictions_of_models_with_few_labels_count_less() -> None:
    """The first half was made by models with three labels, and is mostly wrong."""
    confidence = drawn(stream(0, "all"), N_IMAGES, 1.0)[0]
    old, new = checked(stream(1, "old"), 40, -3.0), checked(stream(2, "new"), 40, 1.0)
    arrays = {
        name: np.concatenate([getattr(old, name), getattr(new, name)])
        for name in ("images", "probabilities", "allowed", "is_random")
    }
    as_new, as_old = (
        estimate(Checked(**arrays, n_labels=np.repeat([n, 60], 40)), confidence) for n in (60, 3)
    )
    assert as_old.estimate > as_new.estimate + 0.05
    assert as_old.estimate == pytest.approx(estimate(new, confidence).estimate, abs=0.05)


def test_images_whose_group_follows_from_answers_are_right() -> None:
    confidence = np.full(10, 0.5, np.float32)
    every = np.ones(10, dtype=bool)
    found = estimate_accuracy(Checked.empty(), 1.0, confidence, every, 0.0, seed=0)
    assert (found.low, found.estimate, found.high, found.n_wrong) == (1, 1, 1, 0)
    noisy = estimate_accuracy(Checked.empty(), 1.0, confidence, every, 0.2, seed=0)
    assert noisy.low < 0.7 < noisy.estimate < 0.9 <= noisy.high
    rare = estimate_accuracy(Checked.empty(), 1.0, confidence, every, 0.01, seed=0)
    assert rare.high == 1  # perhaps no answer is wrong


def test_about_one_question_in_eight_is_about_an_image_drawn_at_random() -> None:
    """The same images whatever the model: those of one random order of all images."""
    X, y = make_blobs(300, n_features=6, centers=3, cluster_std=3, random_state=0)
    samples = []
    for components in (2, 6):
        model = Likewise(3, kinds="pair,choice", n_components=components, random_state=0)
        model.fit(X, oracle=LabelOracle(y), n_questions=48)
        classes = model.learner_.label_issues.groups().classes
        samples.append(audit_sample(model.constraints_, classes, model.seed_)[0].tolist())
    shorter, longer = sorted(samples, key=len)
    assert 5 <= len(shorter) <= 12  # some were asked about anyway
    assert longer[: len(shorter)] == shorter
    assert sum(is_audit_due(n, n // 8) for n in range(48)) == 0
    assert not is_audit_due(7, 0)
    assert is_audit_due(11, 0)
    assert not is_audit_due(8, 0)


def test_the_estimate_of_a_run_is_near_the_truth() -> None:
    n_covered, errors = 0, []
    for seed in range(4):
        X, y = make_blobs(400, n_features=12, centers=4, cluster_std=4.5, random_state=seed)
        model = Likewise(4, kinds="pair,choice", random_state=seed)
        model.fit(X, oracle=LabelOracle(y), n_questions=40)
        found, truth = model.accuracy_estimate_, accuracy(y, model.labels_)
        n_covered += found.low <= truth <= found.high
        errors.append(abs(found.estimate - truth))
    assert n_covered >= 3
    assert np.mean(errors) < 0.1


def test_advice_follows_from_the_estimate() -> None:
    assert advise(AccuracyEstimate(0.7, 0.4, 0.9, 300, 10), 1000).code == "too_early"
    assert advise(AccuracyEstimate(0.7, 0.65, 0.75, 300, 10), 1000).code == "continue"
    assert advise(AccuracyEstimate(0.99, 0.98, 1.0, 10, 90), 1000).code == "stop"
