"""Estimate of the accuracy of the current grouping, with an interval, and when to stop."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import fmin_l_bfgs_b
from scipy.special import expit, logit

from likewise.estimators.kernel.held_out import Checked, Mask, apply_temperature
from likewise.random_streams import stream
from likewise.types import Floats

Doubles = npt.NDArray[np.float64]
_MIN_CONFIDENCE, _MAX_CONFIDENCE = 0.02, 0.999
_BINS = 200
_DRAWS = 1_000
_NOISE_SHAPE = 4.0  # of the gamma distribution of the rate of wrong answers
_MEAN = np.array([0.5, 1.0, -1.0])  # offset, slope, offset of images not drawn at random
_STD = np.array([1.2, 0.3, 1.0])
_FEW = 15.0  # predictions; with so few, the standard deviations of the prior are twice as large
_INFORMATION = 0.5  # of one prediction: errors at similar images are not independent
_LOW, _HIGH = 0.05, 0.95
_UNCLEAR = 0.25  # width of the interval above which no advice is given
_NO_GAIN = 0.005  # expected gain below which it is advised to stop


@dataclass(frozen=True)
class AccuracyEstimate:
    """Estimated accuracy of the current grouping of all images.

    Parameters
    ----------
    estimate : float
        Share of all images that are in the right group.
    low, high : float
        90 % interval.
    n_wrong : float
        Expected number of images in a wrong group.
    n_checked : int
        Images with answers that were predicted without them.
    """

    estimate: float
    low: float
    high: float
    n_wrong: float
    n_checked: int


def estimate_accuracy(
    checked: Checked,
    temperature: float,
    confidence: Floats,
    is_determined: Mask,
    label_noise: float,
    seed: int,
) -> AccuracyEstimate:
    r"""Return the estimated accuracy of a grouping.

    Images whose group follows from answers are right, except for wrong answers; their rate is known
    within a factor of about two. For the others, the probability to be right is a logistic function
    of the logit of the confidence, fitted to the held-out predictions, older ones with less weight
    (`Checked.weights`); its uncertainty is that of the estimate.

    Parameters
    ----------
    checked : Checked
    temperature : float
        Of the reported probabilities.
    confidence : array of shape (n,)
        Reported probability of each image's own group.
    is_determined : array of shape (n,)
        Whether the group of the image follows from the answers.
    label_noise : float
        Estimated share of wrong answers.
    seed : int
        Of the draws from the posterior.
    """
    probabilities = apply_temperature(checked.probabilities, temperature)
    predicted = probabilities.argmax(axis=1)
    rows = np.arange(len(predicted))
    own = probabilities[rows, predicted]
    possible = (probabilities * checked.allowed).sum(axis=1)
    is_allowed = checked.allowed[rows, predicted]
    right = np.where(is_allowed, own / np.maximum(possible, 1e-9), 0.0).astype(np.float64)
    design = _design(own, ~checked.is_random)
    mean, covariance = _fit(design, right, _INFORMATION * checked.weights)
    rng = stream(seed, "accuracy")
    rest = confidence[~is_determined]
    n, n_rest = len(confidence), len(rest)
    accuracy = _mean_over(rest, rng.multivariate_normal(mean, covariance, _DRAWS), rng)
    noise = label_noise * rng.gamma(_NOISE_SHAPE, 1 / _NOISE_SHAPE, _DRAWS)
    n_wrong = np.minimum(rng.poisson(noise * (n - n_rest)), n - n_rest)
    accuracy = (n - n_rest - n_wrong + n_rest * accuracy) / max(n, 1)
    low, estimate, high = np.quantile(accuracy, [_LOW, 0.5, _HIGH]).tolist()
    return AccuracyEstimate(estimate, low, high, n * (1 - estimate), len(own))


def _design(confidence: Floats, is_chosen: Mask | None = None) -> Doubles:
    clipped = np.clip(confidence.astype(np.float64), _MIN_CONFIDENCE, _MAX_CONFIDENCE)
    chosen = np.zeros(len(clipped)) if is_chosen is None else is_chosen
    return np.stack([np.ones(len(clipped)), logit(clipped), chosen], axis=1)


def _fit(design: Doubles, right: Doubles, weights: Doubles) -> tuple[Doubles, Doubles]:
    """Return mean and covariance of the Laplace approximation of the posterior."""
    precision = np.diag(1 / (_STD * (1 + _FEW / max(len(right), 1))) ** 2)

    def cost(x: Doubles) -> tuple[float, Doubles]:
        z = design @ x
        nll = weights @ (np.logaddexp(0, z) - right * z)
        moved = x - _MEAN
        gradient = design.T @ (weights * (expit(z) - right)) + precision @ moved
        return float(nll + moved @ precision @ moved / 2), gradient

    x: Doubles = fmin_l_bfgs_b(cost, _MEAN)[0]
    p = expit(design @ x)
    information = (design.T * (weights * p * (1 - p))) @ design + precision
    return x, np.asarray(np.linalg.inv(information), dtype=np.float64)


def _mean_over(confidence: Floats, draws: Doubles, rng: np.random.Generator) -> Doubles:
    """Return the share of right images, a whole number of them, for each draw."""
    if not len(confidence):
        return np.ones(len(draws))
    counts, edges = np.histogram(confidence, bins=_BINS, range=(0, 1))
    design = _design(((edges[1:] + edges[:-1]) / 2).astype(np.float32))
    p = expit(draws[:, :2] @ design[:, :2].T)
    share = np.clip(p @ (counts / len(confidence)), 0, 1)
    shares: Doubles = rng.binomial(len(confidence), share) / len(confidence)
    return shares


@dataclass(frozen=True)
class Advice:
    """Whether more answers are worth their time.

    Parameters
    ----------
    code : {"too_early", "continue", "stop"}
        ``too_early``: the interval of the accuracy is too wide to say. ``stop``: the next answers
        are expected to change almost nothing.
    expected_gain : float
        Expected gain of accuracy by the next `n_answers` answers.
    n_answers : int
    """

    code: str
    expected_gain: float
    n_answers: int = 10


def advise(accuracy: AccuracyEstimate, n_images: int) -> Advice:
    r"""Return the advice that follows from an estimate.

    Notes
    -----
    The error is expected to fall with the number m of images with answers as
    :math:`m^{-1/2}`, so ten more answers lower it by :math:`1 - (m / (m + 10))^{1/2}` of itself.
    """
    advice = Advice("continue", 0.0)
    m = accuracy.n_checked
    gain = (1 - accuracy.estimate) * (1 - (m / (m + advice.n_answers)) ** 0.5)
    code = advice.code
    if accuracy.high - accuracy.low > _UNCLEAR:
        code = "too_early"
    elif gain < max(_NO_GAIN, 1 / max(n_images, 1)):
        code = "stop"
    return Advice(code, gain)
