"""KernelLearner of `Likewise`: features, two-stage GP classifier, label errors, calibration."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.embedding.words import WORDS
from likewise.estimators.data import Data, VectorData
from likewise.estimators.kernel.feature_spaces import FeatureSpaces
from likewise.estimators.kernel.features import FeatureBlocks, VisualWords, concat_blocks
from likewise.estimators.kernel.held_out import (
    Checked,
    HeldOut,
    apply_temperature,
    fit_temperature,
    possible_groups,
)
from likewise.estimators.kernel.label_issues import LabelIssues
from likewise.estimators.kernel.partitions import InitialClusters
from likewise.estimators.kernel.seeded_partition import SeededPartition, central_images
from likewise.estimators.kernel.training_set import (
    LabeledGroups,
    add_placeholders,
    add_pseudo_labels,
    labeled_set,
)
from likewise.estimators.kernel.two_stage import TwoStageLearner
from likewise.estimators.kernel.unguided_mixture import UnguidedMixture
from likewise.estimators.parts import Learner, Prediction
from likewise.estimators.release_0_1 import upgrade_likewise_state
from likewise.random_streams import stream
from likewise.types import Floats, Indexes, Progress

_FOLDS, _MIN_OUTDATED = 4, 12  # models, and images without a recent prediction that need them
_LEAST_LABELS, _MAX_IMAGES = 0.6, 10_000  # share of the labels of a recent model; see `outdated`


class KernelLearner(Learner):
    """Clusters by k-means before the first answer, then by a two-stage GP classifier.

    With few answers the classifier is trained on pseudo-labels too: central images of clusters that
    start from k-means and follow the answers (`SeededPartition`); and the initial clusters stay in
    force until the classifier has predicted answers better than they did (`UnguidedMixture`).

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
    temperature : float
        Of the reported probabilities.
    held_out : HeldOut
        What models predicted for images before they were trained with their answers.
    checked : Checked
        The same beside the answers at the last training.
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
        self.held_out: HeldOut = HeldOut()
        self.checked: Checked = Checked.empty()
        self.temperature: float = 1.0
        self._n_components, self._n_visual_words = n_components, n_visual_words
        self._pseudo_label_fraction = pseudo_label_fraction
        self._within_class_whitening = within_class_whitening
        self._initial_clusters = InitialClusters()
        self._mixture = UnguidedMixture()
        self._own_prediction: tuple[Floats, Floats] | None = None  # of the trained classifier
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
            self._fit_initial_clusters(spaces, n_clusters, seed)
            self.__dict__.pop("_own_clusters", None)
        else:
            self._features = self._make_features()
        self._classifier = self._new_classifier()

    def _fit_initial_clusters(self, spaces: FeatureSpaces, n_clusters: int, seed: int) -> None:
        """Cluster by k-means; or by the nearest word, unless another number of groups is given."""
        rows = self._initial_rows(self._blocks)
        if WORDS in self._blocks and n_clusters in (0, rows.shape[1]):
            self._initial_clusters.centroids = np.eye(rows.shape[1], dtype=np.float32)
            return
        k = n_clusters or min(spaces.guess_n_clusters(), len(rows))
        self._initial_clusters.fit(rows, k, seed)

    def _initial_rows(self, blocks: Mapping[str, Floats]) -> Floats:
        """Return the unit rows that the initial clusters are in: those of words, if there are."""
        plain = self._features.unsmoothed(blocks)
        return plain[WORDS] if WORDS in plain else concat_blocks(plain)

    @cached_property
    def _own_clusters(self) -> Indexes:
        """The initial cluster of each image of the collection."""
        return self._find_clusters(self._blocks)

    def _find_clusters(self, blocks: Mapping[str, Floats]) -> Indexes:
        rows = self._initial_rows(blocks)
        clusters: Indexes = self._initial_clusters.predict_proba(rows).argmax(axis=1)
        return clusters

    def _new_classifier(self) -> TwoStageLearner:
        return TwoStageLearner(
            self._blocks,
            self._features.n_views,
            within_class=self._within_class_whitening,
            preferred=WORDS,
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
            assert self._partition is not None  # training needs the data
            self._record_predictions(groups)
            update = self.label_issues.update
            self._fit(self._classifier, self._partition, groups, constraints, update)
            self._fit_mixture(groups, constraints)
            self._predict_held_out(groups, constraints)
            kinds, seed = self.label_issues.kinds, self._seed
            self.checked = self.held_out.check(groups, constraints, kinds, seed)
            self.temperature = fit_temperature(self.checked)
        self.history.append({"n_answers": float(constraints.n_answers)})
        progress(1, 1)

    def _fit(
        self,
        classifier: TwoStageLearner,
        partition: SeededPartition,
        groups: LabeledGroups,
        constraints: ConstraintGraph,
        update_errors: Callable[[list[int], list[float]], list[float]],
    ) -> None:
        """Train a classifier on the groups, and on pseudo-labels where these have few labels."""
        n_classes = max(len(groups.keys), self._n_clusters, 2)
        labeled = labeled_set(groups, constraints, n_classes)
        clusters = partition.fit(labeled.images, labeled.classes)
        labeled = replace(labeled, n_classes=max(n_classes, clusters.n_clusters))
        central = central_images(clusters, labeled)
        is_missing = ~np.isin(central.classes, labeled.classes)
        training = labeled.extend(central.take(np.flatnonzero(is_missing)))
        training = add_placeholders(training, self._blocks)
        label_errors = classifier.fit_weights(training)
        errors = update_errors(training.images.tolist(), label_errors.tolist())
        known = central.take(np.flatnonzero(~is_missing))
        fraction, seed = self._pseudo_label_fraction, self._seed
        classifier.fit(
            training.downweight(np.array(errors)).extend(known),
            lambda given, predict_at: add_pseudo_labels(given, groups, predict_at, fraction, seed),
        )

    def _record_predictions(self, groups: LabeledGroups) -> None:
        """Record what the present model predicts for images with new answers, and how well."""
        possible = possible_groups(groups)
        if not self.is_trained:
            self.held_out.update(possible, None, groups.prototypes)
            return
        new = self.held_out.new_images(possible)
        if len(new) and self._mixture.table is not None:
            own = apply_temperature(self._classifier.predict_at(new), self.temperature)
            allowed = self.held_out.allowed_columns(new, groups, own.shape[1])
            self._mixture.compare(own, self._own_clusters[new], allowed)
        self.held_out.update(possible, self.probabilities, groups.prototypes)

    def _fit_mixture(self, groups: LabeledGroups, constraints: ConstraintGraph) -> None:
        labeled = labeled_set(groups, constraints, len(groups.keys))
        self._own_prediction = self._classifier.predict()
        assert self._initial_clusters.centroids is not None  # fitted by `build`
        n = len(self._initial_clusters.centroids)
        own, clusters = self._own_prediction[1], self._own_clusters
        self._mixture.fit(own, clusters, labeled.images, labeled.classes, n)

    def _predict_held_out(self, groups: LabeledGroups, constraints: ConstraintGraph) -> None:
        """Predict labelled images by models trained without them, where earlier ones are outdated.

        One image of each group is in every model, so that it knows all groups. In a large
        collection only images without any prediction are predicted, since each model takes seconds.
        """
        is_fast = len(self.probabilities) <= _MAX_IMAGES
        outdated = self.held_out.outdated(_LEAST_LABELS if is_fast else 0.0)
        chosen = np.array(sorted(set(outdated) - set(groups.prototypes)), dtype=np.intp)
        chosen = chosen[groups.classes[chosen] >= 0]
        if len(chosen) < _MIN_OUTDATED or len(outdated) * 2 < groups.n_labeled:
            return
        assert self._partition is not None  # training needs the data
        for images in np.array_split(stream(self._seed, "folds").permutation(chosen), _FOLDS):
            classes = groups.classes.copy()
            classes[images] = -1
            rest = replace(groups, classes=classes)
            model = self._new_classifier()
            self._fit(model, self._partition.copy(), rest, constraints, lambda _, errors: errors)
            p = self._mixture.predict(model.predict_at(images), self._own_clusters[images])
            self.held_out.record(images, p, groups.prototypes, rest.n_labeled)

    # -- prediction -----------------------------------------------------------

    def predict(self, data: Data) -> Prediction:
        """Return learned rows and probabilities, calibrated by temperature scaling."""
        is_own = data is self._data
        blocks = self._blocks if is_own else self._transform(data)
        if self.is_trained:
            made = self._own_prediction if is_own else None
            rows, probabilities = made or self._classifier.predict(None if is_own else blocks)
            if self._mixture.table is not None:
                clusters = self._own_clusters if is_own else self._find_clusters(blocks)
                probabilities = self._mixture.predict(probabilities, clusters)
        else:
            rows = concat_blocks(self._features.unsmoothed(blocks))
            probabilities = self._initial_clusters.predict_proba(self._initial_rows(blocks))
        if is_own:
            self.probabilities = probabilities
        calibrated = apply_temperature(probabilities, self.temperature)
        return Prediction(rows, probabilities, calibrated)

    def _transform(self, data: Data) -> dict[str, Floats]:
        return self._features.transform(self._raw_blocks(cast(VectorData, data)))

    # -- saving ---------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Return what prediction and resuming need, as named arrays."""
        features = {f"features.{name}": array for name, array in self._features.state.items()}
        words = {f"visual_words.{name}": a for name, a in self._visual_words.state.items()}
        return {
            "predictions": self.probabilities,
            "temperature": np.array(self.temperature),
            **self._initial_clusters.get_state(),
            **self._mixture.get_state(),
            **({} if self._partition is None else self._partition.get_state()),
            **self.held_out.get_state(),
            **self.checked.get_state(),
            **self.label_issues.get_state(),
            **features,
            **words,
            **self._classifier.get_state(),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `get_state` returned, here or in release 0.1."""
        state = upgrade_likewise_state(state)
        self.probabilities = state["predictions"]
        self.temperature = float(state["temperature"])
        self._initial_clusters.set_state(state)
        self.__dict__.pop("_own_clusters", None)  # of other centroids
        self._mixture.set_state(state)
        self._own_prediction = None
        self.held_out.set_state(state)
        self.checked = Checked.from_state(state)
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
