"""Two-stage learner: weigh feature blocks, whiten by the groups found, and classify again."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from likewise.estimators.kernel.gp_classifier import GPClassifier
from likewise.estimators.kernel.loo_tuning import Doubles, Hyperparameters
from likewise.estimators.kernel.training_set import TrainingSet
from likewise.estimators.kernel.whitening import Whitening, fit_whitening
from likewise.types import Floats, Indexes

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
        False leaves whitening out, for comparison.
    """

    def __init__(
        self, blocks: Mapping[str, Floats], n_views: int = 1, *, within_class: bool = True
    ) -> None:
        self._first, self._within_class = GPClassifier(blocks, n_views), within_class
        self._whitening: Whitening | None = None
        self._second = GPClassifier({})

    @property
    def hyperparameters(self) -> Hyperparameters | None:
        """Return the hyperparameters of the first stage; None before the first label."""
        return self._first.hyperparameters

    @property
    def is_fitted(self) -> bool:
        """Return whether `fit` was called, now or before the learner was saved."""
        return self._whitening is not None

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
