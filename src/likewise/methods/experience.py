"""How sure the model may be: a temperature, from what it said before it was told.

Weights and sharpness are tuned on the very answers that teach, so probabilities come out too sure
where a criterion is hard. What the model had said of an image *before* its answer came is an
honest test. With p_i its probabilities then, and A_i the groups that the answer leaves,

    q_i(T) = Σ_{k ∈ A_i} p_ik^{1/T} / Σ_k p_ik^{1/T},
    T = argmin −Σ_i log[(1 − ε) q_i(T) + ε / 2] + (log T)² / (2 · 0.2²),     ε = .01.

One temperature for all classes, as in temperature scaling (Guo et al. 2017); it changes no argmax.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.methods.foretelling import Columns
from likewise.types import Floats

_RECENT = 300  # answers that count
_SLIP, _SPREAD = 0.01, 0.2
_LOG_T = np.linspace(-0.8, 1.6, 121)
_TINY = 1e-12


def tempered(probabilities: Floats, temperature: float) -> Floats:
    """Return probabilities less sure (above 1) or surer (below 1); 1 leaves them as they are."""
    if temperature == 1 or not len(probabilities):
        return probabilities
    logs = np.log(np.maximum(probabilities, _TINY))
    logs -= logs.max(axis=1, keepdims=True)
    powers: Floats = np.exp(logs / np.float32(temperature))
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


class Experience:
    """What the model said of images before their answers came, and what these left."""

    def __init__(self) -> None:
        self._said: list[Floats] = []
        self._left: list[Columns] = []

    def note(self, probabilities: Floats, is_left: Columns | None) -> None:
        """Remember one image: its probabilities, and the columns that its answer left.

        An answer that leaves all of them, or none (a group that is not there yet), is no test.
        """
        if is_left is not None and is_left.any() and not is_left.all():
            self._said = [*self._said, probabilities.copy()][-_RECENT:]
            self._left = [*self._left, is_left][-_RECENT:]

    def temperature(self) -> float:
        """Return the temperature under which the answers surprise least; 1 without any."""
        if not self._said:
            return 1.0
        said, is_left = self.arrays().values()
        logs = np.log(np.maximum(said, _TINY)).astype(np.float64)
        costs = [self._surprise(logs / np.exp(log_t), is_left) for log_t in _LOG_T]
        prior = (_LOG_T / _SPREAD) ** 2 / 2
        return float(np.exp(_LOG_T[np.argmin(costs + prior)]))

    @staticmethod
    def _surprise(logs: npt.NDArray[np.float64], is_left: Columns) -> float:
        powers = np.exp(logs - logs.max(axis=1, keepdims=True))
        left = (powers * is_left).sum(axis=1) / powers.sum(axis=1)
        return float(-np.log((1 - _SLIP) * left + _SLIP / 2).sum())

    # -- on disk ----------------------------------------------------------------

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return all that is remembered; where there were fewer columns, nothing is in the rest."""
        width = max((len(row) for row in self._said), default=0)
        said = np.zeros((len(self._said), width), dtype=np.float32)
        is_left = np.zeros((len(self._said), width), dtype=bool)
        for i, (row, left) in enumerate(zip(self._said, self._left, strict=True)):
            said[i, : len(row)], is_left[i, : len(row)] = row, left
        return {"experience.said": said, "experience.left": is_left}

    def take_arrays(self, arrays: Mapping[str, Any]) -> None:
        """Take back what `arrays` gave."""
        self._said = list(arrays["experience.said"])
        self._left = list(arrays["experience.left"])
