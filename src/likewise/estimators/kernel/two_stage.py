"""Two-stage learner: classify, whiten within the predicted classes (WCCN), classify again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.estimators.kernel.features import normalise, pca_axes
from likewise.estimators.kernel.gp_classifier import GPClassifier
from likewise.estimators.kernel.loo_tuning import Doubles, Hyperparameters
from likewise.estimators.kernel.training_set import TrainingSet
from likewise.operating_system import single_threaded
from likewise.types import Floats, Indexes

_SHRINKAGE = 0.3  # of the covariance towards the identity, in units of its mean eigenvalue
_FIT_ROWS = 1_000  # from which principal axes are fitted
_CONFIDENCE_POWER = 4  # images without a likely group get little weight


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
        centred: Floats = rows - self.mean
        projected: Floats = centred @ self.axes
        return normalise(projected)


@single_threaded
def fit_whitening(
    rows: Floats,
    probabilities: Floats,
    n_columns: int,
    *,
    within_class: bool = True,
) -> Whitening:
    r"""Return a linear map that moves images of the same group closer together.

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
    with soft groups instead of known ones. Example: where images are grouped by colour, two
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


PredictAt = Callable[[Indexes], Floats]
AddPseudoLabels = Callable[[TrainingSet, PredictAt], TrainingSet]
_FIT_IMAGES = 3_000  # from which the whitening is fitted
_COLUMNS, _FEW_COLUMNS, _MANY_IMAGES = 200, 64, 100_000  # after whitening; fewer for many images
_WHITENED = "whitened"


class TwoStageLearner:
    """Two GP classifiers: one that weighs feature blocks, one on within-class whitened rows.

    The first learns from few labels which feature blocks matter. Its predictions for all other
    images show which directions vary within groups; `fit_whitening` scales these down, and the
    second classifier is trained on the result, the representation targeted at the criterion.

    Parameters
    ----------
    blocks : mapping of str to array of shape (n, d_f)
        Unit rows.
    n_views : int
        Versions of each feature block; see `GPClassifier`.
    within_class : bool
        If False, no whitening, for comparison.
    preferred : str, optional
        See `GPClassifier`.
    """

    def __init__(
        self,
        blocks: Mapping[str, Floats],
        n_views: int = 1,
        *,
        within_class: bool = True,
        preferred: str = "",
    ) -> None:
        self._first, self._within_class = GPClassifier(blocks, n_views, preferred), within_class
        self._whitening: Whitening | None = None
        self._second = GPClassifier({})

    @property
    def hyperparameters(self) -> Hyperparameters | None:
        """Return the hyperparameters of the first stage; None before the first label."""
        return self._first.hyperparameters

    def fit_weights(self, training: TrainingSet) -> Doubles:
        """Weigh the feature blocks; return for each label the probability that it is wrong."""
        return self._first.fit(
            training.images,
            training.classes,
            training.n_classes,
            sample_weight=training.sample_weight,
        )

    def fit(self, training: TrainingSet, add_pseudo_labels: AddPseudoLabels) -> None:
        """Train the first stage with the weights found, then the second on whitened rows.

        Parameters
        ----------
        training : TrainingSet
        add_pseudo_labels : callable
            Given a training set and the current predictions, returns the extended training set.
        """
        self._self_train(self._first, training, add_pseudo_labels)
        self._whitening = self._fit_whitening(training)
        self._second = GPClassifier({_WHITENED: self._whitened(self._first.blocks)})
        self._second.fit(
            training.images,
            training.classes,
            training.n_classes,
            sample_weight=training.sample_weight,
        )
        self._self_train(self._second, training, add_pseudo_labels)

    @staticmethod
    def _self_train(
        stage: GPClassifier, training: TrainingSet, add_pseudo_labels: AddPseudoLabels
    ) -> None:
        stage.refit(training.images, training.classes, sample_weight=training.sample_weight)
        more = add_pseudo_labels(training, stage.predict_proba_at)
        stage.refit(more.images, more.classes, sample_weight=more.sample_weight)

    def _fit_whitening(self, training: TrainingSet) -> Whitening:
        n = self._first.n_images
        evenly = np.linspace(0, n - 1, min(n, _FIT_IMAGES)).astype(np.intp)
        images = np.union1d(evenly, training.images)
        probabilities = self._first.predict_proba_at(images)
        labels = np.eye(training.n_classes, dtype=np.float32)[training.classes]
        probabilities[np.searchsorted(images, training.images)] = labels
        blocks = {name: rows[images] for name, rows in self._first.blocks.items()}
        n_columns = _COLUMNS if n <= _MANY_IMAGES else _FEW_COLUMNS
        rows = self._first.scaled_rows(blocks)
        return fit_whitening(rows, probabilities, n_columns, within_class=self._within_class)

    def predict(self, blocks: Mapping[str, Floats] | None = None) -> tuple[Floats, Floats]:
        """Return rows ``(n, c)`` and probabilities ``(n, k)`` of given blocks, or of all images."""
        if blocks is None:
            return self._second.blocks[_WHITENED], self._second.predict_proba()
        rows = self._whitened(blocks)
        return rows, self._second.predict_proba({_WHITENED: rows})

    def predict_at(self, images: Indexes) -> Floats:
        """Return probabilities ``(m, k)`` of some of all images."""
        return self._second.predict_proba_at(images)

    def _whitened(self, blocks: Mapping[str, Floats]) -> Floats:
        assert self._whitening is not None  # `fit` comes first
        return self._first.transform(blocks, self._whitening, self._whitening.axes.shape[1])

    # -- saving ---------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Return what prediction needs, as named arrays."""
        if self._whitening is None:
            return {}
        return {
            **self._first.get_weights("first_stage."),
            "whitening.mean": self._whitening.mean,
            "whitening.axes": self._whitening.axes,
            **self._second.get_state(),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `get_state` returned."""
        if "whitening.axes" not in state:
            return
        self._first.set_weights("first_stage.", state)
        self._whitening = Whitening(state["whitening.mean"], state["whitening.axes"])
        self._second.set_state(state, [_WHITENED])
        if self._first.blocks:
            self._second.blocks[_WHITENED] = self._whitened(self._first.blocks)
