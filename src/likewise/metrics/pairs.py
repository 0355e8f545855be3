"""Scores that count pairs of images: together or apart, in truth and as found."""

from dataclasses import dataclass
from math import sqrt

from likewise.metrics.contingency import Contingency, Counts, Labels, contingency


@dataclass(frozen=True)
class PairCounts:
    """Pairs of images by what is true of them and what was found.

    Attributes
    ----------
    together : int
        Together in truth and as found.
    missed : int
        Together in truth only.
    wrong : int
        Together as found only.
    apart : int
        Apart in both.
    """

    together: int
    missed: int
    wrong: int
    apart: int


def count_pairs(table: Contingency) -> PairCounts:
    """Return the pair counts of a contingency table."""
    together, in_truth, as_found = map(_n_pairs, (table.cells, table.truth, table.found))
    in_all = table.n * (table.n - 1) // 2
    return PairCounts(
        together=together,
        missed=in_truth - together,
        wrong=as_found - together,
        apart=in_all - in_truth - as_found + together,
    )


def ari(truth: Labels, found: Labels) -> float:
    r"""Return the Rand index, adjusted so that chance gives 0.

    Parameters
    ----------
    truth, found : sequence or array of shape (n,)

    Returns
    -------
    ari : float
        1 for the same groups, about 0 for random ones, at worst -0.5.

    Notes
    -----
    With :math:`a` pairs together in both, :math:`d` apart in both, :math:`b`
    and :math:`c` together in one of them only,

    .. math:: \mathrm{ARI} = \frac{2(ad - bc)}{(a + b)(b + d) + (a + c)(c + d)}
    """
    return ari_of(contingency(truth, found))


def ari_of(table: Contingency) -> float:
    """Return the adjusted Rand index of a contingency table."""
    pairs = count_pairs(table)
    a, b, c, d = pairs.together, pairs.missed, pairs.wrong, pairs.apart
    if b == c == 0:
        return 1.0
    return 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))


def fowlkes_mallows(truth: Labels, found: Labels) -> float:
    r"""Return the geometric mean of pair precision and pair recall.

    This is the column "F" of the papers' tables.

    Parameters
    ----------
    truth, found : sequence or array of shape (n,)

    Returns
    -------
    fmi : float
        From 0 to 1; 0 where no pair is together in both, as in scikit-learn.

    Notes
    -----
    .. math:: \mathrm{FMI} = \sqrt{\frac{a}{a + b} \cdot \frac{a}{a + c}}

    in the letters of `ari`.
    """
    return fowlkes_mallows_of(contingency(truth, found))


def fowlkes_mallows_of(table: Contingency) -> float:
    """Return the Fowlkes-Mallows index of a contingency table."""
    pairs = count_pairs(table)
    a, b, c = pairs.together, pairs.missed, pairs.wrong
    return sqrt(a / (a + b)) * sqrt(a / (a + c)) if a else 0.0


def pairwise_f1(truth: Labels, found: Labels) -> float:
    r"""Return the harmonic mean of pair precision and pair recall.

    Parameters
    ----------
    truth, found : sequence or array of shape (n,)

    Returns
    -------
    f1 : float
        From 0 to 1; 0 where no pair is together in both.

    Notes
    -----
    .. math:: F_1 = \frac{2a}{2a + b + c}

    in the letters of `ari`. It is at most the Fowlkes-Mallows index, with
    which it is easily confused.
    """
    return pairwise_f1_of(contingency(truth, found))


def pairwise_f1_of(table: Contingency) -> float:
    """Return the pairwise F1 of a contingency table."""
    pairs = count_pairs(table)
    twice = 2 * pairs.together
    return twice / (twice + pairs.missed + pairs.wrong) if twice else 0.0


def _n_pairs(counts: Counts) -> int:
    # Python's integers from here on: products of pair counts of 10^6 images pass 64 bits.
    return int((counts * (counts - 1) // 2).sum())
