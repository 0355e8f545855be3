"""Clustering metrics and calibration, computed with scikit-learn and scipy.

Labels may be any hashable values; only their equality matters. All metrics take
``(truth, found)``, one label per image each, and raise `InvalidParameterError` if these are
empty, of different lengths, not one-dimensional, or contain NaN.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import (
    adjusted_rand_score,
    fowlkes_mallows_score,
    normalized_mutual_info_score,
)
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from likewise.errors import InvalidParameterError
from likewise.types import Indexes

Labels = Sequence[Any] | npt.NDArray[Any]

_MAX_CELLS = 100_000_000  # of a dense contingency matrix


@dataclass(frozen=True)
class Scores:
    """Agreement of a clustering with the true labels; 1 is perfect in each."""

    nmi: float
    ari: float
    acc: float
    fmi: float
    pair_f1: float
    purity: float

    def as_dict(self) -> dict[str, float]:
        """Return the scores by name, in a fixed order."""
        return asdict(self)


def score(truth: Labels, found: Labels) -> Scores:
    """Return all scores of `found` against `truth`.

    Examples
    --------
    >>> score([0, 0, 1, 1], ["b", "b", "a", "a"]).acc
    1.0
    """
    truth, found = _encode_both(truth, found)
    return Scores(
        nmi=nmi(truth, found),
        ari=ari(truth, found),
        acc=accuracy(truth, found),
        fmi=fowlkes_mallows(truth, found),
        pair_f1=pairwise_f1(truth, found),
        purity=purity(truth, found),
    )


def accuracy(truth: Labels, found: Labels) -> float:
    r"""Return the accuracy under the best one-to-one matching of clusters to classes.

    Notes
    -----
    .. math:: \mathrm{ACC} = \max_\pi \frac1n \sum_i [t_i = \pi(f_i)]

    over one-to-one matchings :math:`\pi`, found by the Hungarian method. With different
    numbers of clusters and classes, images of unmatched clusters count as wrong; a single
    cluster gives the fraction of the largest class.

    Examples
    --------
    >>> accuracy(["cat", "cat", "dog"], [1, 1, 0])
    1.0
    """
    truth, found = _encode_both(truth, found)
    n_classes, n_clusters = int(truth.max()) + 1, int(found.max()) + 1
    if n_classes * n_clusters > _MAX_CELLS:
        raise InvalidParameterError(
            f"Too many classes ({n_classes}) and clusters ({n_clusters}) for a one-to-one "
            "matching; give group labels, not a distinct value per image."
        )
    counts = contingency_matrix(truth, found)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return float(counts[rows, columns].sum() / len(truth))


def purity(truth: Labels, found: Labels) -> float:
    r"""Return the fraction of images that belong to the largest class of their cluster.

    Several clusters may share a class, and a cluster of one image is always pure; see also
    `accuracy`.

    Notes
    -----
    .. math:: \frac1n \sum_f \max_t |\{i : t_i = t, f_i = f\}|

    Examples
    --------
    >>> purity(["cat", "cat", "dog", "dog"], [0, 1, 2, 2])
    1.0
    """
    truth, found = _encode_both(truth, found)
    counts = contingency_matrix(truth, found, sparse=True)
    return float(counts.max(axis=0).sum() / len(truth))


def nmi(truth: Labels, found: Labels) -> float:
    r"""Return the mutual information, normalised by the mean of both entropies.

    Notes
    -----
    .. math:: \mathrm{NMI} = \frac{2\, I(T; F)}{H(T) + H(F)}

    It is 1 if both labellings have a single group.

    Examples
    --------
    >>> nmi([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    return float(np.clip(normalized_mutual_info_score(*_encode_both(truth, found)), 0, 1))


def ari(truth: Labels, found: Labels) -> float:
    """Return the adjusted Rand index: 1 for equal groups, 0 on average for random ones."""
    return float(adjusted_rand_score(*_encode_both(truth, found)))


def fowlkes_mallows(truth: Labels, found: Labels) -> float:
    """Return the geometric mean of pair precision and pair recall.

    This is the column "F" of the papers' tables. It is 0 if no pair is together in both.
    """
    return float(fowlkes_mallows_score(*_encode_both(truth, found)))


def pairwise_f1(truth: Labels, found: Labels) -> float:
    r"""Return the harmonic mean of pair precision and pair recall.

    Notes
    -----
    .. math:: F_1 = \frac{2a}{2a + b + c}

    with :math:`a` the pairs together in both labellings, :math:`b` and :math:`c` those
    together in one of them only; 0 if :math:`a = 0`. At most the Fowlkes-Mallows index, with
    which it is easily confused.
    """
    (_, c), (b, a) = pair_confusion_matrix(*_encode_both(truth, found)).tolist()
    return 2 * a / (2 * a + b + c) if a else 0.0


def majority_accuracy(truth: Labels) -> float:
    """Return the accuracy of a single cluster: the fraction of the largest class.

    Examples
    --------
    >>> majority_accuracy(["cat", "cat", "cat", "dog"])
    0.75
    """
    codes = _encode(truth, "truth")
    return float(np.bincount(codes).max() / len(codes))


def other_criterion_accuracy(truth: Labels, others: Iterable[Labels]) -> float | None:
    """Return the best accuracy of a perfect grouping by another criterion.

    Parameters
    ----------
    truth : sequence or array of shape (n,)
        Labels of the criterion of interest.
    others : iterable of label columns of shape (n,)
        Labels of the same images by other criteria.

    Returns
    -------
    accuracy : float or None
        None if there is no other criterion.
    """
    return max((accuracy(truth, other) for other in others), default=None)


def expected_calibration_error(
    confidence: npt.ArrayLike, is_right: npt.ArrayLike, n_bins: int = 15
) -> float:
    r"""Return the mean absolute difference between confidence and accuracy over bins.

    Parameters
    ----------
    confidence : array-like of shape (n,)
        Predicted probability of each prediction, from 0 to 1.
    is_right : array-like of shape (n,), bool
        Whether the prediction was correct.
    n_bins : int
        Bins of equal width from 0 to 1; a bin includes its upper edge.

    Notes
    -----
    .. math:: \sum_b \frac{n_b}{n} |\mathrm{accuracy}_b - \mathrm{confidence}_b|

    with the means over bin :math:`b`.
    """
    claimed, right = np.asarray(confidence, dtype=np.float64), np.asarray(is_right, dtype=bool)
    if claimed.ndim != 1 or claimed.shape != right.shape or not len(claimed):
        raise InvalidParameterError(
            "confidence and is_right must have the same shape (n,) with n >= 1, got "
            f"{claimed.shape} and {right.shape}."
        )
    if not ((claimed >= 0) & (claimed <= 1)).all():  # also false for NaN
        raise InvalidParameterError(
            "confidence must be between 0 and 1, got values from "
            f"{claimed.min():g} to {claimed.max():g}."
        )
    if n_bins < 1:
        raise InvalidParameterError(f"n_bins must be an integer >= 1, got {n_bins}.")
    bins = np.clip(np.ceil(claimed * n_bins).astype(np.intp) - 1, 0, n_bins - 1)
    gaps = np.bincount(bins, weights=right - claimed, minlength=n_bins)  # n_b times the gap
    return float(np.abs(gaps).sum() / len(claimed))


def _encode_both(truth: Labels, found: Labels) -> tuple[Indexes, Indexes]:
    """Return both labellings as codes, of the same length."""
    truth_codes, found_codes = _encode(truth, "truth"), _encode(found, "found")
    if len(truth_codes) != len(found_codes):
        raise InvalidParameterError(
            f"truth and found must have the same length, got {len(truth_codes)} and "
            f"{len(found_codes)} labels."
        )
    return truth_codes, found_codes


def _encode(labels: Labels, name: str) -> Indexes:
    """Return labels as codes ``0 .. n_distinct - 1``; `name` is used in error messages."""
    # Convert tensors and series: the items of a tensor would each be a distinct label.
    array = np.asarray(labels) if hasattr(labels, "__array__") else None
    if array is not None and array.ndim != 1:
        raise InvalidParameterError(
            f"{name} must have shape (n,), one label per image, got shape {array.shape}."
        )
    if not len(labels):
        raise InvalidParameterError(f"{name} must contain at least one label, got none.")
    if array is not None and array.dtype.kind in "iub":
        codes: Indexes = np.unique(array, return_inverse=True)[1]
        return codes
    return _encode_objects(list(labels) if array is None else array.tolist(), name)


def _encode_objects(labels: Sequence[Any], name: str) -> Indexes:
    # A dictionary distinguishes 1 and "1" and accepts tuples; an array does not.
    code_of: dict[Any, int] = {}
    codes = np.empty(len(labels), dtype=np.intp)
    for position, label in enumerate(labels):
        try:
            codes[position] = code_of.setdefault(label, len(code_of))
        except TypeError as error:
            raise InvalidParameterError(
                f"{name} must contain hashable labels such as integers or strings, got {label!r}."
            ) from error
    if any(isinstance(label, float) and isnan(label) for label in code_of):
        raise InvalidParameterError(
            f"{name} must not contain NaN; leave out the images without a label."
        )
    return codes
