"""How much one labelling tells of another, in shares of what there is to tell."""

import numpy as np

from likewise.metrics.contingency import Contingency, Counts, Labels, contingency


def nmi(truth: Labels, found: Labels) -> float:
    r"""Return the mutual information, normalised by the mean of both entropies.

    Parameters
    ----------
    truth, found : sequence or array of shape (n,)

    Returns
    -------
    nmi : float
        From 0 (independent) to 1 (the same but for names). Two labellings
        that both hold a single group are the same: 1.

    Notes
    -----
    .. math:: \mathrm{NMI} = \frac{2\, I(T; F)}{H(T) + H(F)}

    Examples
    --------
    >>> nmi([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    return nmi_of(contingency(truth, found))


def nmi_of(table: Contingency) -> float:
    """Return the NMI of a contingency table."""
    h_truth, h_found = _entropy(table.truth), _entropy(table.found)
    if h_truth + h_found == 0:
        return 1.0
    information = h_truth + h_found - _entropy(table.cells)
    return float(np.clip(2 * information / (h_truth + h_found), 0, 1))


def _entropy(counts: Counts) -> float:
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())
