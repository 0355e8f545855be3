"""Query probabilities of pairs, and their effect on OCC's active clustering risk."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
FLOOR = 0.02  # of the uniform probability; without it a rule's zeros make every bound infinite


def probabilities(weights: Floats, budget: float) -> Floats:
    r"""Return :math:`p_z \propto` weights with :math:`\sum p_z` = budget, none above 1.

    Parameters
    ----------
    weights : array of shape (m,)
        Not negative.
    budget : float
        How many questions are expected, at most m.

    Examples
    --------
    >>> probabilities(np.array([1.0, 1.0, 8.0]), 1.5).round(3).tolist()
    [0.25, 0.25, 1.0]
    """
    m = len(weights)
    floor = FLOOR * budget / m
    found = np.full(m, min(budget / m, 1.0))
    raw = np.maximum(weights, 0) + 1e-300
    free = np.ones(m, dtype=bool)
    for _ in range(m):  # fill up to 1, share the rest among the others
        left = budget - (~free).sum()
        found[free] = np.maximum(raw[free] / raw[free].sum() * left, floor)
        full = free & (found > 1)
        if not full.any():
            break
        found[full], free[full] = 1.0, False
    scaled: Floats = found * min(1.0, budget / found.sum())
    return scaled


def rules(losses: Floats, csd: Floats) -> Mapping[str, Floats]:
    """Return the weights of the rules that Theorems 1 and 2 compare."""
    return {
        "uniform": np.ones_like(losses),
        "CSD": np.maximum(csd, 0),
        "√loss": np.sqrt(losses),
        "loss": losses,
    }


def d_p(losses: Floats, p: Floats) -> float:
    r"""Return :math:`D_p = \sum_z l_z / p_z`, [OCC]_ Theorem 1."""
    return float((losses / p).sum())


def variance(losses: Floats, p: Floats) -> float:
    r"""Return the variance of term (C) without its bars: :math:`\sum l^2 (1/p - 1) / m^2`."""
    return float((losses**2 * (1 / p - 1)).sum() / len(losses) ** 2)


def active_risk(
    losses: Floats, p: Floats, rng: np.random.Generator, n_draws: int
) -> tuple[Floats, Floats]:
    """Return terms (B) and (C) of Eq. (8) for several random sets of questions, (n_draws,)."""
    asked = rng.random((n_draws, len(losses))) < p
    extended = (asked * (losses / p)).mean(axis=1)
    return extended, np.abs(losses.mean() - extended)


def bernstein(losses: Floats, p: Floats, delta: float = 0.1) -> float:
    """Return the right side of Eq. (9) with the constant of its proof."""
    log = np.log(1 / delta)
    return float(d_p(losses, p) / (3 * len(losses)) * log * (1 + np.sqrt(1 + 18 / log)))
