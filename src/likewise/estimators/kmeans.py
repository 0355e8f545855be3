"""k-means on standardised vectors: the baseline `KMeans`, and its centroids and probabilities."""

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.exceptions import ConvergenceWarning

from likewise.constraints.graph import ConstraintGraph
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.data import BlockScaler, Data, VectorData
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, NoQuestions, Prediction, Questioner, State
from likewise.operating_system import single_threaded
from likewise.random_streams import derive
from likewise.types import Floats, Progress

_CHUNK = 4096  # rows scaled together
_INVERSE_TEMPERATURE = 10.0  # of cosine similarities


class KMeansLearner(Learner):
    """Standardises vectors and fits scikit-learn's k-means.

    Parameters
    ----------
    n_init : int
    """

    plan: TrainingPlan = TrainingPlan(n_rounds=1, epochs_per_round=1)

    def __init__(self, n_init: int) -> None:
        self._n_init = n_init

    def build(self, data: Data, n_clusters: int, seed: int) -> None:
        """Make an unfitted scaler."""
        assert data.n_columns is not None  # images are embedded before
        self._data, self._n_clusters, self._seed = data, n_clusters, seed
        self._scaler = BlockScaler(data.slices, data.n_columns)
        self._centroids: Floats | None = None
        self._margin = 1.0

    def train(self, constraints: ConstraintGraph, epochs: int | None, progress: Progress) -> None:
        """Fit the scaler and the centroids."""
        if isinstance(self._data, VectorData):
            self._scaler.fit(self._data.matrix)
        rows = self._scaled(self._data)
        kmeans = SklearnKMeans(
            self._n_clusters,
            n_init=self._n_init,
            random_state=derive(self._seed, "k-means") % 2**32,
        ).fit(rows)
        self._centroids = kmeans.cluster_centers_.astype(np.float32)
        self._margin = mean_margin(kmeans.transform(rows))
        progress(1, 1)

    def predict(self, data: Data) -> Prediction:
        """Return scaled rows, and probabilities by distance; uniform before training."""
        rows = self._scaled(data)
        if self._centroids is None:
            shape = len(rows), self._n_clusters
            return Prediction(rows, np.full(shape, 1 / self._n_clusters, np.float32))
        distances = centroid_distances(rows, self._centroids)
        return Prediction(rows, distance_soft_assign(distances, self._margin))

    def get_state(self) -> State:
        """Return scaler and centroids."""
        state = {"scaling:mean": self._scaler.mean, "scaling:scale": self._scaler.scale}
        if self._centroids is not None:
            state["centres"] = self._centroids
        return {**state, "margin": np.array([self._margin])}

    def set_state(self, state: State) -> None:
        """Restore scaler and centroids."""
        self._scaler.mean, self._scaler.scale = state["scaling:mean"], state["scaling:scale"]
        self._centroids = state.get("centres")
        self._margin = float(state["margin"][0])

    def _scaled(self, data: Data) -> Floats:
        starts = range(0, len(data), _CHUNK)
        chunks = [np.arange(start, min(start + _CHUNK, len(data))) for start in starts]
        return np.concatenate([self._scaler.transform(data.batch(chunk)) for chunk in chunks])


class KMeans(InteractiveClusterer):
    r"""k-means on standardised vectors; asks no questions.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        Number of initialisations; the best is kept.
    encoder : str or Encoder, optional
        How images become vectors; the bundled encoder if None.
    random_state : int, optional

    Notes
    -----
    Columns are standardised and feature blocks have equal weight, as for every other method.
    k-means gives no probabilities; ours are the softmax over k of :math:`-2 \delta_{ik} / m`,
    with :math:`\delta_{ik}` the distance of image i from centroid k and m the mean margin
    between the nearest and the second centroid. They order as the distances do, and an image
    with the mean margin has a probability of about 0.88 with two clusters.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(90, n_features=8, centers=3, random_state=0)
    >>> from likewise.metrics import accuracy
    >>> float(accuracy(y, KMeans(n_clusters=3, random_state=0).fit(X).labels_))
    1.0
    """

    asks: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        encoder: Any = None,
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.encoder = encoder
        self.random_state = random_state

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        return KMeansLearner(self.settings_.n_init), NoQuestions()


@single_threaded
def fit_centroids(rows: Floats, n_clusters: int, seed: int) -> Floats:
    """Return the L2-normalised k-means centroids ``(k, d)`` of unit rows.

    Fewer distinct rows than clusters are no reason for a warning: some clusters stay empty.
    """
    kmeans = SklearnKMeans(n_clusters, n_init=10, random_state=derive(seed, "centres") % 2**31)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        centroids = kmeans.fit(rows).cluster_centers_
    lengths = np.linalg.norm(centroids, axis=1, keepdims=True).clip(1e-12)
    unit: Floats = (centroids / lengths).astype(np.float32)
    return unit


def cosine_soft_assign(rows: Floats, centroids: Floats) -> Floats:
    """Return soft assignments ``(n, k)``: a softmax of cosine similarities."""
    similarity = _INVERSE_TEMPERATURE * (rows @ centroids.T)
    weights = np.exp(similarity - similarity.max(axis=1, keepdims=True))
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def centroid_distances(rows: Floats, centroids: Floats) -> Floats:
    """Return the distance ``(n, k)`` of every row to every centroid; infinite where one is NaN."""
    # One centroid at a time: the distances of a row must not depend on the number of rows.
    distances = np.stack([np.linalg.norm(rows - c, axis=1) for c in centroids], axis=1)
    found: Floats = np.where(np.isnan(distances), np.inf, distances).astype(np.float32)
    return found


def distance_soft_assign(distances: Floats, margin: float) -> Floats:
    """Return soft assignments ``(n, k)``: a softmax of negative distances over `margin`."""
    nearest = distances.min(axis=1, keepdims=True)
    weights = np.exp(-2 * (distances - nearest) / margin)
    shares: Floats = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


def mean_margin(distances: Floats) -> float:
    """Return the mean difference between the second smallest and the smallest distance."""
    if np.isfinite(distances[0]).sum() < 2:
        return 1.0
    nearest, second = np.partition(distances, 1, axis=1)[:, :2].T
    return float((second - nearest).mean()) or 1.0
