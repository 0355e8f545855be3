"""Leave-one-out tuning of the GP classifier: block weights, kernel width, noise, label noise."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import fmin_l_bfgs_b
from scipy.special import expit, softmax

from likewise.operating_system import single_threaded
from likewise.types import Indexes

Doubles = npt.NDArray[np.float64]
_MAX_ITERATIONS = 40
_START = (0.0, -1.0, 1.0, -4.0)  # log gamma, log noise, log sharpness, logit of label noise
_BOUNDS = [(-3.0, 3.0), (-6.0, 3.0), (-2.0, 5.0), (-8.0, 0.0)]
_PRIOR_NUMBERS, _PRIOR_VIEWS = 0.3, 0.05  # strength of the priors on `_START` and on views
_MIN_WEIGHT = 0.05
_REWEIGHTINGS = 2


@dataclass
class Hyperparameters:
    """What is tuned once for all images.

    Parameters
    ----------
    weights : array of shape (v f,)
        Weight of each feature block of each view in a squared distance.
    gamma, noise, sharpness : float
        Inverse squared width of the kernel, noise variance of a label, inverse temperature.
    label_noise : float
        Share of labels that are independent of their image.
    """

    weights: Doubles
    gamma: float
    noise: float
    sharpness: float
    label_noise: float


@dataclass
class _Forward:
    """Intermediate results of one evaluation, from which the gradient is computed."""

    view_weights: Doubles  # (v,)
    block_weights: Doubles  # (f,)
    gamma: float
    distances: Doubles  # (m, m), weighted
    kernel: Doubles  # (m, m)
    noise: Doubles  # (m,)
    inverse: Doubles  # (m, m)
    residuals: Doubles  # (m, k), (K + noise)^-1 (Y - mean)
    sharpness: float
    logits: Doubles  # (m, k)
    softmax: Doubles  # (m, k)
    likelihood: Doubles  # (m,), of each label without label noise
    epsilon: float
    probabilities: Doubles  # (m,), of each label given all others


class LeaveOneOut:
    r"""Closed-form leave-one-out predictions of a GP classifier, and their gradient.

    Parameters
    ----------
    distances : array of shape (v, f, m, m)
        Squared distances of the labelled images in each view of each feature block, of mean one.
    y : array of shape (m,)
    n_classes : int
    sample_weight : array of shape (m,)
        1 for an answer; less for a pseudo-label.
    preferences : array of shape (f,), optional
        Logits of the block weights where nothing is known; equal weights if None.

    Notes
    -----
    With the kernel matrix :math:`K`, the noise variance :math:`\sigma^2 / t_i` of label :math:`i`
    with sample weight :math:`t_i`, and the sharpness :math:`s`,

    .. math:: \mu_{-i} = y_i - \alpha_i / [(K + \sigma^2 T^{-1})^{-1}]_{ii}, \qquad
              p_i = (1 - \epsilon) \operatorname{softmax}(s \mu_{-i})_{y_i} + \epsilon / k :

    a label is what the others predict or, with probability :math:`\epsilon`, drawn at random. By
    Bayes' rule the probability that label :math:`i` was drawn at random is
    :math:`(\epsilon / k) / p_i`. The weight of a block in a view is the product of a block weight
    and a view weight, so that few answers have few numbers to determine.
    """

    def __init__(
        self,
        distances: Doubles,
        y: Indexes,
        n_classes: int,
        sample_weight: Doubles,
        preferences: Doubles | None = None,
    ) -> None:
        self.distances = distances
        self.preferences: Doubles = (
            np.zeros(distances.shape[1]) if preferences is None else preferences
        )
        self.y = y
        self.sample_weight = sample_weight
        self.targets: Doubles = np.eye(n_classes)[y]

    @single_threaded
    def tune(self) -> tuple[Hyperparameters, Doubles]:
        """Return the best hyperparameters, and for each label the probability that it is wrong."""
        n_logits = sum(self.distances.shape[:2])
        start = np.concatenate([np.zeros(self.distances.shape[0]), self.preferences, _START])
        bounds = [(-6.0, 6.0)] * n_logits + _BOUNDS
        best = fmin_l_bfgs_b(self.cost_and_gradient, start, bounds=bounds, maxiter=_MAX_ITERATIONS)
        x: Doubles = best[0]
        gamma, noise, sharpness = np.exp(x[n_logits:-1]).tolist()
        views, blocks, _ = self._split(x)
        weights = np.outer(softmax(views), softmax(blocks)).ravel()
        tuned = Hyperparameters(weights, gamma, noise, sharpness, float(expit(x[-1])))
        return tuned, self._label_errors(x)

    def cost_and_gradient(self, x: Doubles) -> tuple[float, Doubles]:
        """Return the leave-one-out negative log-likelihood plus the prior, and its gradient.

        The prior keeps block weights together and the other numbers near their usual values; the
        fewer labels, the stronger it counts.
        """
        views, blocks, numbers = self._split(x)
        n, total = len(self.y), self.sample_weight.sum()
        found = self._forward(x, self.sample_weight)
        moved = numbers - np.array(_START)
        blocks = blocks - self.preferences
        prior = blocks.var() + _PRIOR_NUMBERS * (moved**2).sum() + _PRIOR_VIEWS * (views**2).sum()
        nll = -(self.sample_weight * np.log(found.probabilities)).sum() / total
        gradient = self._backward(found, -self.sample_weight / (total * found.probabilities))
        of_blocks = 2 * (blocks - blocks.mean()) / len(blocks)
        of_prior = [2 * _PRIOR_VIEWS * views, of_blocks, 2 * _PRIOR_NUMBERS * moved]
        return float(nll + prior / n), gradient + np.concatenate(of_prior) / n

    def label_probabilities(self, x: Doubles, sample_weight: Doubles) -> Doubles:
        """Return the probability of each label given all others, ``(m,)``."""
        return self._forward(x, sample_weight).probabilities

    def _split(self, x: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Return the logits of views and of blocks, and the four other numbers."""
        n_views, n_blocks = self.distances.shape[:2]
        views, blocks, numbers = np.split(x, [n_views, n_views + n_blocks])
        return views, blocks, numbers

    def _forward(self, x: Doubles, sample_weight: Doubles) -> _Forward:
        views, blocks, (log_gamma, log_noise, log_sharpness, noise_logit) = self._split(x)
        view_weights, block_weights = softmax(views), softmax(blocks)
        gamma, noise = float(np.exp(log_gamma)), np.exp(log_noise) / sample_weight
        weights = np.outer(view_weights, block_weights).ravel()
        n = len(self.y)
        distances = (weights @ self.distances.reshape(len(weights), -1)).reshape(n, n)
        kernel = np.exp(-gamma * distances)
        inverse = np.linalg.inv(kernel + np.diag(noise))
        residuals = inverse @ (self.targets - self.targets.mean(axis=0))
        sharpness = float(np.exp(log_sharpness))
        logits = sharpness * (self.targets - residuals / np.diag(inverse)[:, None])
        probabilities = softmax(logits, axis=1)
        likelihood = probabilities[np.arange(n), self.y]
        epsilon = float(expit(noise_logit))
        return _Forward(
            view_weights=view_weights,
            block_weights=block_weights,
            gamma=gamma,
            distances=distances,
            kernel=kernel,
            noise=noise,
            inverse=inverse,
            residuals=residuals,
            sharpness=sharpness,
            logits=logits,
            softmax=probabilities,
            likelihood=likelihood,
            epsilon=epsilon,
            probabilities=(1 - epsilon) * likelihood + epsilon / self.targets.shape[1],
        )

    def _backward(self, found: _Forward, upstream: Doubles) -> Doubles:
        """Return the gradient by `x` of a cost whose gradient by `probabilities` is `upstream`.

        Backpropagation through `_forward`; `of_y` is the gradient of the cost by y.
        """
        k, epsilon, inverse = self.targets.shape[1], found.epsilon, found.inverse
        of_epsilon = (upstream * (1 / k - found.likelihood)).sum() * epsilon * (1 - epsilon)
        scaled = upstream * (1 - epsilon) * found.likelihood
        of_logits = scaled[:, None] * (self.targets - found.softmax)
        of_sharpness = (of_logits * found.logits).sum()
        # logits = s (Y - residuals / diagonal of the inverse)
        diagonal = np.diag(inverse)
        of_residuals = -found.sharpness * of_logits / diagonal[:, None]
        of_diagonal = -(of_residuals * found.residuals).sum(axis=1) / diagonal
        # residuals = inverse (Y - mean), inverse = (K + noise)^-1
        of_matrix = -(inverse @ of_residuals) @ found.residuals.T
        of_matrix -= (inverse * of_diagonal) @ inverse
        of_noise = (np.diag(of_matrix) * found.noise).sum()
        of_exponent = of_matrix * found.kernel  # K = exp(-gamma D)
        of_gamma = -found.gamma * (of_exponent * found.distances).sum()
        n_views, n_blocks = self.distances.shape[:2]
        flat = self.distances.reshape(n_views * n_blocks, -1)
        of_weights = (-found.gamma * (flat @ of_exponent.ravel())).reshape(n_views, n_blocks)
        of_views = _softmax_gradient(found.view_weights, of_weights @ found.block_weights)
        of_blocks = _softmax_gradient(found.block_weights, found.view_weights @ of_weights)
        numbers = [of_gamma, of_noise, of_sharpness, of_epsilon]
        return np.concatenate([of_views, of_blocks, numbers])

    def _label_errors(self, x: Doubles) -> Doubles:
        """Return the probability that each label is wrong; doubtful ones get less weight."""
        at_random = expit(x[-1]) / self.targets.shape[1]
        errors = np.zeros_like(self.sample_weight)
        for _ in range(_REWEIGHTINGS):
            weight = self.sample_weight * (1 - errors).clip(_MIN_WEIGHT)
            errors = at_random / self.label_probabilities(x, weight)
        return errors


def _softmax_gradient(shares: Doubles, upstream: Doubles) -> Doubles:
    """Return the gradient with respect to the logits; `shares` is their softmax."""
    gradient: Doubles = shares * (upstream - shares @ upstream)
    return gradient
