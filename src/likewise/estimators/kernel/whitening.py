"""Within-class whitening (WCCN): scale down directions that vary within groups."""

from dataclasses import dataclass

import numpy as np

from likewise.estimators.kernel.features import normalise, pca_axes
from likewise.estimators.thread_limits import single_threaded
from likewise.types import Floats

_SHRINKAGE = 0.3  # of the covariance towards the identity, in units of its mean eigenvalue
_FIT_ROWS = 1_000  # from which principal axes are fitted
_CONFIDENCE_POWER = 4  # images without a likely group hardly count


@dataclass(frozen=True)
class Whitening:
    """A linear map of rows, followed by L2 normalisation.

    Parameters
    ----------
    mean : array of shape (d,)
    axes : array of shape (d, c)
    """

    mean: Floats
    axes: Floats

    def __call__(self, rows: Floats) -> Floats:
        """Return unit rows ``(n, c)``."""
        return normalise((rows - self.mean) @ self.axes)


@single_threaded
def fit_whitening(
    rows: Floats,
    probabilities: Floats,
    n_columns: int,
    *,
    within_class: bool = True,
) -> Whitening:
    r"""Return a map under which images of one group move together.

    Parameters
    ----------
    rows : array of shape (n, d)
    probabilities : array of shape (n, k)
        Of each group for each image.
    n_columns : int
        Principal components kept of rows that have many more columns.
    within_class : bool
        False only reduces the rows to their principal components.

    Notes
    -----
    With probabilities :math:`q`, confidence :math:`c_i = \max_k q_{ik}^4` and group means
    :math:`\mu_k = \sum_i c_i q_{ik} x_i / \sum_i c_i q_{ik}`,

    .. math:: S = \sum_i c_i r_i r_i^\top / \sum_i c_i, \quad r_i = x_i - \sum_k q_{ik} \mu_k,
              \qquad A = V \Big(S + 0.3 \tfrac{\operatorname{tr} S}{c} I\Big)^{-1/2} :

    within-class covariance normalisation [WCCN]_ in the leading principal components :math:`V`,
    with soft groups in place of known ones. Example: where images are grouped by colour, two
    shirts of one colour differ in cut, so directions of cut are scaled down.
    """
    mean = rows.mean(axis=0)
    centred = rows - mean
    components = np.eye(rows.shape[1], dtype=np.float32)
    if rows.shape[1] > n_columns + 16:  # `pca_axes` needs some axes to leave out
        components = pca_axes(centred[:: -(-len(rows) // _FIT_ROWS)], n_columns)
    axes = components
    if within_class:
        axes = components @ _inverse_root_within(centred @ components, probabilities)
    return Whitening(mean, np.ascontiguousarray(axes))


def _inverse_root_within(rows: Floats, probabilities: Floats) -> Floats:
    """Return the inverse square root of the shrunk within-class covariance, ``(c, c)``."""
    x, q = rows.astype(np.float64), probabilities.astype(np.float64)
    confidence = q.max(axis=1) ** _CONFIDENCE_POWER
    shares = q * confidence[:, None]
    means = shares.T @ x / np.maximum(shares.sum(axis=0), 1e-9)[:, None]
    residuals = x - q @ means
    within = (residuals * confidence[:, None]).T @ residuals / confidence.sum()
    mean_variance = max(float(np.trace(within)) / len(within), 1e-12)
    shrunk = within + _SHRINKAGE * mean_variance * np.eye(len(within))
    eigenvalues, eigenvectors = np.linalg.eigh(shrunk)
    root: Floats = ((eigenvectors / np.sqrt(eigenvalues)) @ eigenvectors.T).astype(np.float32)
    return root
