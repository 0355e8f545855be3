"""The learner of `Likewise`: features, two-stage GP classifier, label errors, calibration."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from likewise.constraints.constraint import allowed_classes, query_image, was_predicted
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer
from likewise.estimators.data import Data, VectorData
from likewise.estimators.kernel.calibration import TemperatureScaler, apply_temperature
from likewise.estimators.kernel.feature_spaces import FeatureSpaces
from likewise.estimators.kernel.features import FeatureBlocks, concat_blocks
from likewise.estimators.kernel.initial_clusters import InitialClusters
from likewise.estimators.kernel.release_0_1 import upgrade_state
from likewise.estimators.kernel.requery import LabelIssues
from likewise.estimators.kernel.seeded_partition import SeededPartition, central_images
from likewise.estimators.kernel.training_set import (
    LabeledGroups,
    TrainingSet,
    add_placeholders,
    add_pseudo_labels,
    labeled_set,
)
from likewise.estimators.kernel.two_stage import TwoStageLearner
from likewise.estimators.kernel.visual_words import VisualWords
from likewise.estimators.parts import Learner, Prediction
from likewise.progress import Progress
from likewise.types import Floats, Indexes


class KernelLearner(Learner):
    """Clusters by k-means before the first answer, then by a two-stage GP classifier.

    With few answers the classifier is trained on pseudo-labels too: central images of clusters that
    start from k-means and follow the answers (`SeededPartition`).

    Parameters
    ----------
    label_issues : LabelIssues
        Knows the groups that the answers establish; updated by each training.
    n_components, n_visual_words, pseudo_label_fraction, within_class_whitening
        As for `Likewise`.

    Attributes
    ----------
    probabilities : array of shape (n_images, k)
        The last prediction of the collection, before calibration, columns in the order of the
        groups.
    temperature_scaler : TemperatureScaler
    predicted_correctly : list of bool
        For each answer that could be predicted before it arrived, whether it was.
    """

    probabilities: Floats

    def __init__(
        self,
        label_issues: LabelIssues,
        *,
        n_components: int,
        n_visual_words: int,
        pseudo_label_fraction: float,
        within_class_whitening: bool,
    ) -> None:
        self.label_issues = label_issues
        self.temperature_scaler, self._temperature = TemperatureScaler(), 1.0
        self.predicted_correctly: list[bool] = []
        self._n_components, self._n_visual_words = n_components, n_visual_words
        self._pseudo_label_fraction = pseudo_label_fraction
        self._within_class_whitening = within_class_whitening
        self._initial_clusters = InitialClusters()
        self._partition: SeededPartition | None = None  # only with the data

    def build(self, data: Data, n_clusters: int, seed: int) -> None:
        """Fit visual words, feature blocks and initial clusters; without the data, none of them."""
        self._data, self._n_clusters, self._seed = data, n_clusters, seed
        self._visual_words = VisualWords(self._n_visual_words, seed)
        self._blocks: dict[str, Floats] = {}
        if isinstance(data, VectorData):
            self._visual_words.fit(data.local_features)
            raw = self._raw_blocks(data)
            self._features = self._make_features().fit(raw)
            self._blocks = self._features.transform(raw)
            spaces = FeatureSpaces(self._blocks, self._features.blocks, n_clusters, seed)
            self._partition = SeededPartition(spaces, seed)
            rows, k = (
                concat_blocks(self.unsmoothed_blocks()),
                n_clusters or spaces.guess_n_clusters(),
            )
            self._initial_clusters.fit(rows, k, seed)
        else:
            self._features = self._make_features()
        self._classifier = TwoStageLearner(
            self._blocks, self._features.n_views, within_class=self._within_class_whitening
        )

    def _make_features(self) -> FeatureBlocks:
        names = [*self._data.slices, *self._visual_words.names]
        return FeatureBlocks(names, self._n_components)

    def _raw_blocks(self, data: VectorData) -> dict[str, Any]:
        return data.blocks() | self._visual_words.transform(data.local_features)

    def unsmoothed_blocks(self) -> dict[str, Floats]:
        """Return the feature blocks of the collection without those smoothed over neighbours."""
        return self._features.unsmoothed(self._blocks)

    # -- training -------------------------------------------------------------

    @property
    def is_trained(self) -> bool:
        """Return whether predictions come from answers rather than from the initial clusters."""
        return self._classifier.hyperparameters is not None

    @property
    def block_weights(self) -> dict[str, float]:
        """Return how much each feature block counts; empty before training on answers."""
        tuned = self._classifier.hyperparameters
        names = self._features.names
        return {} if tuned is None else dict(zip(names, tuned.weights.tolist(), strict=True))

    @property
    def label_noise(self) -> float:
        """Return the estimated share of wrong answers; 0 before training on answers."""
        tuned = self._classifier.hyperparameters
        return 0.0 if tuned is None else tuned.label_noise

    def train(self, constraints: ConstraintGraph, epochs: int | None, progress: Progress) -> None:
        """Train on the groups that the answers establish; `epochs` is ignored."""
        groups = self.label_issues.groups()
        if groups.keys:
            labeled, central = self._training_sets(groups, constraints)
            is_missing = ~np.isin(central.classes, labeled.classes)
            training = labeled.extend(central.take(np.flatnonzero(is_missing)))
            training = add_placeholders(training, self._blocks)
            label_errors = self._classifier.fit_weights(training)
            errors = self.label_issues.update(training.images.tolist(), label_errors.tolist())
            known = central.take(np.flatnonzero(~is_missing))
            fraction, seed = self._pseudo_label_fraction, self._seed
            self._classifier.fit(
                training.downweight(np.array(errors)).extend(known),
                lambda given, predict_at: add_pseudo_labels(
                    given, groups, predict_at, fraction, seed
                ),
            )
        self._temperature = self.temperature_scaler.temperature()
        self.history.append({"n_answers": float(constraints.n_answers)})
        progress(1, 1)

    def _training_sets(
        self, groups: LabeledGroups, constraints: ConstraintGraph
    ) -> tuple[TrainingSet, TrainingSet]:
        """Return the labelled images, and central images of the clusters as pseudo-labels."""
        n_classes = max(len(groups.keys), self._n_clusters, 2)
        labeled = labeled_set(groups, constraints, n_classes)
        assert self._partition is not None  # training needs the data
        partition = self._partition.fit(labeled.images, labeled.classes)
        labeled = replace(labeled, n_classes=max(n_classes, partition.n_clusters))
        return labeled, central_images(partition, labeled)

    # -- prediction -----------------------------------------------------------

    def predict(self, data: Data) -> Prediction:
        """Return learned rows and probabilities, calibrated by temperature scaling."""
        is_own = data is self._data
        blocks = self._blocks if is_own else self._transform(data)
        if self.is_trained:
            rows, probabilities = self._classifier.predict(None if is_own else blocks)
        else:
            rows = concat_blocks(self._features.unsmoothed(blocks))
            probabilities = self._initial_clusters.predict_proba(rows)
        if is_own:
            self.probabilities = probabilities
        calibrated = apply_temperature(probabilities, self._temperature)
        return Prediction(rows, probabilities, calibrated)

    def _transform(self, data: Data) -> dict[str, Floats]:
        return self._features.transform(self._raw_blocks(cast(VectorData, data)))

    def record_prediction(self, answer: Answer, column_of: Indexes) -> None:
        """Record what the model predicts for an answer that it has not been trained on.

        Parameters
        ----------
        answer : Answer
        column_of : array of shape (n_images,)
            The column that each image is assigned to.
        """
        if not self.is_trained:
            return
        if (was_right := was_predicted(answer, self.probabilities)) is not None:
            self.predicted_correctly.append(was_right)
        image, others = query_image(answer, self.probabilities)
        predicted = self.probabilities[image]
        allowed = allowed_classes(answer, column_of[others], len(predicted))
        self.temperature_scaler.record(predicted, allowed)

    # -- saving ---------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Return what prediction and resuming need, as named arrays."""
        features = {f"features.{name}": array for name, array in self._features.state.items()}
        words = {f"visual_words.{name}": a for name, a in self._visual_words.state.items()}
        return {
            "predictions": self.probabilities,
            "predicted_correctly": np.array(self.predicted_correctly, dtype=bool),
            "temperature": np.array(self._temperature),
            **self._initial_clusters.get_state(),
            **({} if self._partition is None else self._partition.get_state()),
            **self.temperature_scaler.get_state(),
            **self.label_issues.get_state(),
            **features,
            **words,
            **self._classifier.get_state(),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `get_state` returned, here or in release 0.1."""
        state = upgrade_state(state)
        self.probabilities = state["predictions"]
        self.predicted_correctly = state["predicted_correctly"].tolist()
        self._temperature = float(state["temperature"])
        self._initial_clusters.set_state(state)
        self.temperature_scaler.set_state(state)
        self.label_issues.set_state(state)
        self._visual_words.state = _with_prefix("visual_words.", state)
        self._features = self._make_features()
        self._features.state = _with_prefix("features.", state)
        self._classifier.set_state(state)
        if self._partition is not None:
            self._partition.set_state(state)


def _with_prefix(prefix: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays whose names have the prefix, by the rest of their names."""
    return {k[len(prefix) :]: array for k, array in state.items() if k.startswith(prefix)}
