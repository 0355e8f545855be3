"""Which facets matter, and which labels may be slips: found by leaving each label out."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from scipy.optimize import fmin_l_bfgs_b
from torch import Tensor

from likewise.methods.one_thread import on_one_thread

Doubles = npt.NDArray[np.float64]
_STEPS = 40
_START = (0.0, -1.0, 1.0, -4.0)  # log gamma, log noise, log sharpness, logit of slips
_BOUNDS = [(-3.0, 3.0), (-6.0, 3.0), (-2.0, 5.0), (-8.0, 0.0)]
_FIRM, _LOOSE = 0.3, 0.05  # how much these, and the logits of views, stay where they start
_LEAST_TRUST = 0.05
_REWEIGHINGS = 2


@dataclass
class Tuning:
    """What is learned about facets, the same for all images.

    Parameters
    ----------
    weights : array of shape (v f,)
        How much each facet of each view counts in a distance.
    gamma, noise, sharpness : float
        Inverse width of the kernel, variance of a label, inverse temperature.
    slips : float
        Share of labels that say nothing of their image.
    """

    weights: Doubles
    gamma: float
    noise: float
    sharpness: float
    slips: float


class LeftOut:
    r"""Predictions of each label from all others, closed form, as a function of the tuning.

    Notes
    -----
    With :math:`K` the kernel and :math:`\sigma^2 / t_i` the variance of label :math:`i`,
    which is trusted :math:`t_i`,

    .. math:: \mu_{-i} = y_i - \alpha_i / [(K + \sigma^2 T^{-1})^{-1}]_{ii}, \qquad
              p_i = (1 - \epsilon) \operatorname{softmax}(s \mu_{-i})_{y_i} + \epsilon / k :

    a label is what the others foretell, or, with chance :math:`\epsilon`, a slip that may be
    anything. The chance that label :math:`i` *is* a slip follows by Bayes:
    :math:`(\epsilon / k) / p_i`. A facet weighs the same part of every view, and a view the same
    part of every facet, so that few answers have few numbers to decide.

    Parameters
    ----------
    distances : tensor of shape (v, f, m, m)
        Squared distances of the labelled images in each view of each facet, of mean one.
    y : tensor of shape (m,)
    n_classes : int
    trust : tensor of shape (m,)
        1 for an answer; less for a guess.
    """

    def __init__(self, distances: Tensor, y: Tensor, n_classes: int, trust: Tensor) -> None:
        self.distances, self.y, self.trust = distances, y, trust
        self.Y = F.one_hot(y, n_classes).double()

    @on_one_thread
    def tune(self) -> tuple[Tuning, Doubles]:
        """Return what foretells left-out labels best, and for each label the chance of a slip."""
        n_logits = sum(self.distances.shape[:2])
        start = np.concatenate([np.zeros(n_logits), _START])
        bounds = [(-6.0, 6.0)] * n_logits + _BOUNDS
        best = fmin_l_bfgs_b(self._cost_and_slope, start, bounds=bounds, maxiter=_STEPS)[0]
        x = torch.tensor(best)
        gamma, noise, sharpness = np.exp(best[n_logits:-1]).tolist()
        slips = float(torch.sigmoid(x[-1]))
        weights = self._weights(x).flatten().numpy()
        return Tuning(weights, gamma, noise, sharpness, slips), self._slipped(x)

    def cost(self, x: Tensor) -> Tensor:
        """Return the mean surprise of left-out labels, plus what is believed beforehand."""
        views, facets, numbers = self._parts(x)
        surprise = -self._chances(x, self.trust).log()
        # Few answers say little about facets: the fewer, the nearer all weights stay together,
        # and the numbers to what they usually are.
        moved = ((numbers - numbers.new_tensor(_START)) ** 2).sum()
        prior = facets.var(unbiased=False) + _FIRM * moved + _LOOSE * (views**2).sum()
        cost: Tensor = (self.trust * surprise).sum() / self.trust.sum() + prior / len(self.y)
        return cost

    def _parts(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the logits of views and of facets, and the numbers."""
        n_views, n_facets = self.distances.shape[:2]
        views, facets, numbers = x.split([n_views, n_facets, len(_START)])
        return views, facets, numbers

    def _weights(self, x: Tensor) -> Tensor:
        """Return the weight of each facet of each view, ``(v, f)``."""
        views, facets, _ = self._parts(x)
        return torch.outer(views.softmax(0), facets.softmax(0))

    def _cost_and_slope(self, values: Doubles) -> tuple[float, Doubles]:
        x = torch.tensor(values, requires_grad=True)
        cost = self.cost(x)
        cost.backward()
        assert x.grad is not None  # just computed
        return cost.item(), x.grad.numpy()

    def _chances(self, x: Tensor, trust: Tensor) -> Tensor:
        """Return the chance of each label given all others, ``(m,)``."""
        gamma, noise, sharp, slips = x[-4:]
        D = torch.einsum("vf,vfij->ij", self._weights(x), self.distances)
        K = torch.exp(-gamma.exp() * D)
        inverse = torch.linalg.inv(K + torch.diag(noise.exp() / trust))
        left_out = self.Y - (inverse @ (self.Y - self.Y.mean(0))) / inverse.diagonal()[:, None]
        foretold = (sharp.exp() * left_out).softmax(1).gather(1, self.y[:, None])[:, 0]
        epsilon = slips.sigmoid()
        chances: Tensor = (1 - epsilon) * foretold + epsilon / self.Y.shape[1]
        return chances

    def _slipped(self, x: Tensor) -> Doubles:
        """Return the chance that each label is a slip; doubtful ones count less for the others."""
        by_chance = torch.sigmoid(x[-1]) / self.Y.shape[1]
        slipped = torch.zeros_like(self.trust)
        for _ in range(_REWEIGHINGS):
            trust = self.trust * (1 - slipped).clamp_min(_LEAST_TRUST)
            slipped = by_chance / self._chances(x, trust)
        found: Doubles = slipped.numpy()
        return found
