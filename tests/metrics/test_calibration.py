import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from likewise.errors import InvalidParameterError
from likewise.metrics.calibration import expected_calibration_error, wilson_interval
from likewise.seeds import stream


def naive_error(confidence: npt.NDArray[np.float64], right: npt.NDArray[np.bool_], n: int) -> float:
    """Bin by bin, each without its lower edge and with its upper one; slow on purpose."""
    total = 0.0
    for b in range(n):
        low, high = b / n, (b + 1) / n
        inside = [(c, r) for c, r in zip(confidence, right, strict=True) if low < c <= high]
        if inside:
            gap = sum(r for _, r in inside) / len(inside) - sum(c for c, _ in inside) / len(inside)
            total += len(inside) / len(confidence) * abs(gap)
    return total


@pytest.mark.parametrize("n_bins", [1, 4, 15])
def test_agrees_with_the_loop_over_bins(n_bins: int) -> None:
    rng = stream(0, "calibration")
    confidence, right = rng.random(200), rng.random(200) < 0.7
    ours = expected_calibration_error(confidence, right, n_bins)
    assert ours == pytest.approx(naive_error(confidence, right, n_bins))


def test_a_bin_holds_its_upper_edge() -> None:
    """In one bin, 0.4 and 0.5 with one right miss by 0.05; in two bins by 0.45."""
    assert expected_calibration_error([0.5, 0.4], [True, False], 2) == pytest.approx(0.05)


def test_who_is_always_sure_and_always_wrong_misses_by_one() -> None:
    assert expected_calibration_error([1.0, 1.0], [False, False]) == 1.0
    assert expected_calibration_error([1.0, 0.0], [True, False]) == 0.0


@pytest.mark.parametrize(
    ("confidence", "right", "n_bins", "message"),
    [
        ([0.5], [True, False], 15, r"confidence has shape \(1,\) and is_right \(2,\)"),
        ([], [], 15, "at least one guess"),
        ([0.5, 1.2], [True, False], 15, "confidence runs from 0.5 to 1.2, not within 0 .. 1"),
        ([math.nan], [True], 15, "not within 0 .. 1"),
        ([0.5], [True], 0, "n_bins=0 leaves no bin"),
    ],
)
def test_guesses_that_cannot_be_are_refused(
    confidence: list[float], right: list[bool], n_bins: int, message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        expected_calibration_error(confidence, right, n_bins)


@settings(deadline=None)  # two cores, many workers
@given(st.integers(1, 500), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_interval_is_scipys(n: int, data: st.DataObject, confidence: float) -> None:
    successes = data.draw(st.integers(0, n))
    theirs = binomtest(successes, n).proportion_ci(confidence, method="wilson")
    ours = wilson_interval(successes, n, confidence)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert 0 <= ours[0] <= successes / n <= ours[1] <= 1


def test_of_no_trial_nothing_is_known() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("successes", "n", "confidence", "message"),
    [
        (3, 2, 0.95, "successes=3 of n=2 cannot be"),
        (-1, 2, 0.95, "successes=-1 of n=2 cannot be"),
        (1, 2, 1.0, "confidence=1.0 is not between 0 and 1"),
    ],
)
def test_counts_that_cannot_be_are_refused(
    successes: int, n: int, confidence: float, message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        wilson_interval(successes, n, confidence)
