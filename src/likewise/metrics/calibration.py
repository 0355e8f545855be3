"""Whether stated certainty can be trusted, and how sure a count of successes makes us."""

from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from likewise.errors import InvalidParameterError


def expected_calibration_error(
    confidence: npt.ArrayLike, is_right: npt.ArrayLike, n_bins: int = 15
) -> float:
    r"""Return how far stated confidence and the share of right guesses lie apart, on average.

    Parameters
    ----------
    confidence : array-like of shape (n,)
        What was claimed of each guess, from 0 to 1.
    is_right : array-like of shape (n,), bool
        Whether the guess was right.
    n_bins : int
        Bins of equal width from 0 to 1; a bin holds its upper edge.

    Notes
    -----
    .. math:: \sum_b \frac{n_b}{n} |\mathrm{right}_b - \mathrm{confidence}_b|

    with the means over bin :math:`b`.
    """
    claimed, right = np.asarray(confidence, dtype=np.float64), np.asarray(is_right, dtype=bool)
    _check_guesses(claimed, right, n_bins)
    bins = np.clip(np.ceil(claimed * n_bins).astype(np.intp) - 1, 0, n_bins - 1)
    gaps = np.bincount(bins, weights=right - claimed, minlength=n_bins)  # n_b times the gap
    return float(np.abs(gaps).sum() / len(claimed))


def wilson_interval(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    r"""Return Wilson's interval for the share of successes: honest also at 0 of 5.

    Parameters
    ----------
    successes, n : int
        How often it went well, and how often it was tried. Of no trial
        nothing is known: (0, 1).
    confidence : float
        How often, in the long run, the interval holds the true share.

    Notes
    -----
    With :math:`p` the share and :math:`z` the normal quantile, the ends are

    .. math:: \frac{p + z^2 / 2n \pm z \sqrt{p(1 - p) / n + z^2 / 4n^2}}{1 + z^2 / n}

    Examples
    --------
    >>> low, high = wilson_interval(9, 10)
    >>> f"{low:.2f} to {high:.2f}"
    '0.60 to 0.98'
    """
    if not 0 <= successes <= n:
        raise InvalidParameterError(
            f"successes={successes} of n={n} cannot be; give at least 0 and at most n."
        )
    if not 0 < confidence < 1:
        raise InvalidParameterError(
            f"confidence={confidence} is not between 0 and 1; 0.95 is usual."
        )
    if n == 0:
        return 0.0, 1.0
    z, share = NormalDist().inv_cdf((1 + confidence) / 2), successes / n
    middle = share + z**2 / (2 * n)
    reach = z * sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low, high = ((middle + side * reach) / (1 + z**2 / n) for side in (-1, 1))
    return min(share, max(0.0, low)), max(share, min(1.0, high))  # also where it is rounded


def _check_guesses(
    claimed: npt.NDArray[np.float64], right: npt.NDArray[np.bool_], n_bins: int
) -> None:
    if claimed.ndim != 1 or claimed.shape != right.shape or not len(claimed):
        raise InvalidParameterError(
            f"confidence has shape {claimed.shape} and is_right {right.shape}; "
            "give one of each for at least one guess."
        )
    if not ((claimed >= 0) & (claimed <= 1)).all():  # NaN is neither
        raise InvalidParameterError(
            f"confidence runs from {claimed.min():g} to {claimed.max():g}, not within 0 .. 1; "
            "give probabilities."
        )
    if n_bins < 1:
        raise InvalidParameterError(f"n_bins={n_bins} leaves no bin; choose at least 1.")
