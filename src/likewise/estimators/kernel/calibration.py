"""Calibration: temperature scaling, agreement with predicted answers, and a progress estimate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.types import Floats

Columns = npt.NDArray[np.bool_]
_MAX_RECORDED = 300  # predictions that the temperature is fitted to
_MAX_AGREEMENT = 50  # answers on which agreement is measured
_LABEL_NOISE, _PRIOR_STD = 0.01, 0.2
_LOG_TEMPERATURES = np.linspace(-0.8, 1.6, 121)
_TINY = 1e-12
_NAMES_0_1 = {
    "temperature.probabilities": "experience.said",
    "temperature.allowed": "experience.left",
}


def apply_temperature(probabilities: Floats, temperature: float) -> Floats:
    """Return probabilities made less certain (above 1) or more certain (below 1)."""
    if temperature == 1 or not len(probabilities):
        return probabilities
    logs = np.log(np.maximum(probabilities, _TINY))
    logs -= logs.max(axis=1, keepdims=True)
    powers: Floats = np.exp(logs / np.float32(temperature))
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


class TemperatureScaler:
    r"""Temperature scaling (Guo et al. 2017) on predictions made before each answer arrived.

    Hyperparameters are tuned on the labels that also train the model, so its probabilities are too
    certain where a criterion is hard. What it had predicted for an image *before* the answer came
    is a fair test. One temperature for all classes; it changes no argmax.

    Notes
    -----
    With the probabilities :math:`p_i` predicted for image :math:`i` and the groups :math:`A_i` that
    its answer allows,

    .. math:: q_i(T) = \frac{\sum_{k \in A_i} p_{ik}^{1/T}}{\sum_k p_{ik}^{1/T}}, \qquad
              T = \arg\min_T -\sum_i \log[(1 - \epsilon) q_i(T) + \epsilon / 2]
              + \frac{(\log T)^2}{2 \cdot 0.2^2}, \quad \epsilon = .01 .
    """

    def __init__(self) -> None:
        self._probabilities: list[Floats] = []
        self._allowed: list[Columns] = []

    def record(self, probabilities: Floats, allowed: Columns | None) -> None:
        """Record the prediction for one image and the columns that its answer allows.

        An answer that allows all columns, or none of them (a new group), tests nothing.
        """
        if allowed is not None and allowed.any() and not allowed.all():
            self._probabilities = [*self._probabilities, probabilities.copy()][-_MAX_RECORDED:]
            self._allowed = [*self._allowed, allowed][-_MAX_RECORDED:]

    def temperature(self) -> float:
        """Return the temperature with the smallest negative log-likelihood; 1 without answers."""
        if not self._probabilities:
            return 1.0
        probabilities, allowed = self.get_state().values()
        logs = np.log(np.maximum(probabilities, _TINY)).astype(np.float64)
        costs = [self._nll(logs / np.exp(log_t), allowed) for log_t in _LOG_TEMPERATURES]
        prior = (_LOG_TEMPERATURES / _PRIOR_STD) ** 2 / 2
        return float(np.exp(_LOG_TEMPERATURES[np.argmin(costs + prior)]))

    @staticmethod
    def _nll(logs: npt.NDArray[np.float64], allowed: Columns) -> float:
        powers = np.exp(logs - logs.max(axis=1, keepdims=True))
        likelihood = (powers * allowed).sum(axis=1) / powers.sum(axis=1)
        return float(-np.log((1 - _LABEL_NOISE) * likelihood + _LABEL_NOISE / 2).sum())

    def get_state(self) -> dict[str, npt.NDArray[Any]]:
        """Return what was recorded as arrays, shorter rows padded with zeros."""
        width = max((len(row) for row in self._probabilities), default=0)
        probabilities = np.zeros((len(self._probabilities), width), dtype=np.float32)
        allowed = np.zeros((len(self._probabilities), width), dtype=bool)
        for i, (row, columns) in enumerate(zip(self._probabilities, self._allowed, strict=True)):
            probabilities[i, : len(row)], allowed[i, : len(row)] = row, columns
        return {"temperature.probabilities": probabilities, "temperature.allowed": allowed}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `get_state` returned, here or in release 0.1."""
        probabilities, allowed = (
            state[name] if name in state else state[old] for name, old in _NAMES_0_1.items()
        )
        self._probabilities, self._allowed = list(probabilities), list(allowed)


@dataclass(frozen=True)
class ProgressEstimate:
    """How well the model predicts the answers, and how many images more answers would move.

    Parameters
    ----------
    n_checked : int
        Recent answers that the model could predict before it was trained on them.
    agreement : float, optional
        Share of these that it predicted correctly. Questions are about uncertain images, so this
        is lower than the agreement on the whole collection.
    low, high : float
        95 % Wilson interval of `agreement`.
    expected_accuracy : float
        Mean of the largest probability of each image.
    expected_changes : float
        Expected number of images in a wrong group.
    """

    n_checked: int
    agreement: float | None
    low: float
    high: float
    expected_accuracy: float
    expected_changes: float


def estimate_progress(
    predicted_correctly: list[bool], probabilities: Floats, n_labeled: int
) -> ProgressEstimate:
    """Return the progress estimate.

    Parameters
    ----------
    predicted_correctly : list of bool
        For each answer that could be predicted, whether it was.
    probabilities : array of shape (n, k)
    n_labeled : int
        Images whose group follows from the answers.
    """
    from likewise.metrics import wilson_interval  # scikit-learn: slow to import, not always needed

    recent = predicted_correctly[-_MAX_AGREEMENT:]
    low, high = wilson_interval(sum(recent), len(recent)) if recent else (0.0, 1.0)
    error = 1 - probabilities.max(axis=1)
    return ProgressEstimate(
        n_checked=len(recent),
        agreement=sum(recent) / len(recent) if recent else None,
        low=low,
        high=high,
        expected_accuracy=float(1 - error.mean()),
        expected_changes=float(error.sum() * (1 - n_labeled / len(probabilities))),
    )
