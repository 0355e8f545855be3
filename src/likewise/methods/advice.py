"""How well the model understood the person, and what more answers would change."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_RECENT = 50  # answers on which agreement is measured


@dataclass(frozen=True)
class Advice:
    """What to tell a person who wonders whether to go on.

    Parameters
    ----------
    n_checked : int
        Recent answers of which the model had an expectation before it learned them.
    agreement : float, optional
        Share of these that it had guessed. Questions are the unsure ones, so this is
        lower than the agreement on the whole collection.
    low, high : float
        95 % interval of `agreement`.
    expected_accuracy : float
        Mean of the model's own largest probabilities.
    expected_changes : float
        How many images of the collection are likely still wrong.
    """

    n_checked: int
    agreement: float | None
    low: float
    high: float
    expected_accuracy: float
    expected_changes: float


def advise(
    expectations: list[bool], probabilities: npt.NDArray[np.float32], n_settled: int
) -> Advice:
    """Return the advice.

    Parameters
    ----------
    expectations : list of bool
        For each answer that could be foretold, whether the model had it right.
    probabilities : array of shape (n, k)
    n_settled : int
        Images whose place answers have settled.
    """
    from likewise.metrics import wilson_interval  # scikit-learn: not needed to start the server

    recent = expectations[-_RECENT:]
    low, high = wilson_interval(sum(recent), len(recent)) if recent else (0.0, 1.0)
    doubt = 1 - probabilities.max(axis=1)
    return Advice(
        n_checked=len(recent),
        agreement=sum(recent) / len(recent) if recent else None,
        low=low,
        high=high,
        expected_accuracy=float(1 - doubt.mean()),
        expected_changes=float(doubt.sum() * (1 - n_settled / len(probabilities))),
    )
