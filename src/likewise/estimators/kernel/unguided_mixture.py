"""Mixture of the classifier and the unguided clusters, by how well each predicted the answers.

A classifier with a few labels may group the images worse than k-means did without any. So the
unguided clusters stay in force until the classifier has predicted answers better than they did.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.special import expit

from likewise.types import Floats, Indexes

Doubles = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
_BIAS, _SLOPE = -4.0, 0.5  # prior log odds of the classifier without labels, and for each label
_MATCHED = 0.6  # probability that an image belongs to the group matched to its cluster
_LABELS = 1.0  # labels that the prior counts for in the group frequencies of a cluster
_PREDICTED = 0.5  # share of the classifier in this prior, and weight of its predictions in matching
_MISTAKE = 0.02  # probability that an answer does not depend on the image
_NEGLIGIBLE = 1e-3  # weight of the clusters below which they are left out


class UnguidedMixture:
    r"""Mixture of two predictors of the group of an image: classifier and unguided clusters.

    Notes
    -----
    The weight of the classifier, with m labelled images, is
    :math:`\sigma(-4 + 0.5 m + E)`. The evidence E compares what both predicted for each answer
    before they knew it, an answer that arrived at :math:`m_a` labels with weight :math:`m_a / m`,
    because the classifier has improved since:

    .. math:: E = \sum_a \frac{m_a}{m} [\log p_{\mathrm{classifier}}(a) - \log p_{\mathrm{clusters}}(a)]

    Clusters and groups are matched one to one, by the labels and, as far as these leave it open, by
    the predictions of the classifier. A cluster gives its group probability .6; the rest follows
    the frequencies of the groups among its labels.

    Attributes
    ----------
    table : array of shape (n_clusters, k), optional
        Probability of each group for the images of each cluster; None if the clusters are left out.
    weight : float
        Of the classifier.
    """  # noqa: E501

    def __init__(self) -> None:
        self.table: Floats | None = None
        self.weight = 1.0
        self._evidence, self._n_labels = 0.0, 0

    def compare(self, classifier: Floats, clusters: Indexes, allowed: Mask) -> None:
        """Update the evidence by answers that neither predictor knew.

        Parameters
        ----------
        classifier : array of shape (m, k)
            Probabilities that the classifier predicted.
        clusters : array of shape (m,)
            Unguided cluster of each image.
        allowed : array of shape (m, k)
            Columns that agree with the answers.
        """
        if self.table is None:
            return
        for own, cluster, columns in zip(classifier, clusters, allowed, strict=True):
            self._evidence += _log_likelihood(own, columns)
            self._evidence -= _log_likelihood(self.table[cluster], columns)

    def fit(
        self,
        classifier: Floats,
        clusters: Indexes,
        images: Indexes,
        classes: Indexes,
        n_clusters: int = 0,
    ) -> None:
        """Match clusters and groups, and weigh both predictors.

        Parameters
        ----------
        classifier : array of shape (n, k)
            Probabilities of all images.
        clusters : array of shape (n,)
        images, classes : arrays of shape (m,)
            Labelled images and their groups.
        n_clusters : int
            Some clusters may have no image here; images predicted later may be in them.
        """
        self._evidence *= self._n_labels / max(len(images), 1)
        self._n_labels = len(images)
        self.weight = float(expit(_BIAS + _SLOPE * len(images) + self._evidence))
        self.table = None
        if 1 - self.weight > _NEGLIGIBLE:
            self.table = _group_table(classifier, clusters, images, classes, n_clusters)

    def predict(self, classifier: Floats, clusters: Indexes) -> Floats:
        """Return the mixture ``(n, k)`` of the classifier's probabilities and the clusters'."""
        if self.table is None:
            return classifier
        weight = np.float32(self.weight)
        mixed: Floats = weight * classifier + (1 - weight) * self.table[clusters]
        return mixed

    def get_state(self) -> dict[str, Any]:
        """Return table, weight and evidence as named arrays."""
        numbers = np.array([self.weight, self._evidence, self._n_labels])
        table = {} if self.table is None else {"unguided.table": self.table}
        return {"unguided.numbers": numbers, **table}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `get_state` returned; a model of release 0.1 uses its classifier only."""
        if "unguided.numbers" not in state:
            return
        self.weight, self._evidence, n_labels = state["unguided.numbers"].tolist()
        self._n_labels = int(n_labels)
        self.table = state.get("unguided.table")


def _log_likelihood(probabilities: Floats, allowed: Mask) -> float:
    p = float(probabilities[allowed].sum()) / max(float(probabilities.sum()), 1e-9)
    return float(np.log((1 - _MISTAKE) * p + _MISTAKE / 2))


def _group_table(
    classifier: Floats, clusters: Indexes, images: Indexes, classes: Indexes, n_clusters: int
) -> Floats:
    """Return the probability of each group for the images of each cluster."""
    n, k = classifier.shape
    n_clusters = max(n_clusters, int(clusters.max()) + 1)
    sizes = np.bincount(clusters, minlength=n_clusters)
    counts = np.zeros((n_clusters, k))
    np.add.at(counts, (clusters[images], classes), 1)
    predicted = np.zeros((n_clusters, k))
    np.add.at(predicted, clusters, classifier)
    prior = _PREDICTED * predicted / np.maximum(sizes, 1)[:, None] + (1 - _PREDICTED) / k
    table = (counts + _LABELS * prior) / (counts.sum(axis=1, keepdims=True) + _LABELS)
    rows, columns = linear_sum_assignment(counts + _PREDICTED * predicted / n, maximize=True)
    table[rows] *= 1 - _MATCHED
    table[rows, columns] += _MATCHED
    probabilities: Floats = table.astype(np.float32)
    return probabilities
