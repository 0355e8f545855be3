"""K-means on the vectors: the plainest clustering, and a row of every table."""

from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import KMeans as _KMeans

from likewise.estimators.centroids import mean_margin
from likewise.methods.base import Floats
from likewise.methods.nearest_centre import NearestCentre
from likewise.methods.plan import Plan
from likewise.methods.source import Source, VectorSource
from likewise.nn.scaling import FacetScaling
from likewise.progress import Progress
from likewise.seeds import derive


class KMeans(NearestCentre):
    r"""K-means on standardised vectors: unguided, nothing is asked.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        Starts; the best is kept.
    encoder : str or Encoder
        How pictures become vectors.
    random_state : int, optional

    Notes
    -----
    Columns are standardised and facets weigh the same, as for every other method. K-means gives
    no probabilities; ours are the softmax over k of :math:`-2 \delta_{ik} / m`, with
    :math:`\delta_{ik}` the distance of image i from centre k and m the mean margin between the
    nearest and the second centre: they order as the distances do, and an image with a common
    margin is about 0.88 sure between two clusters.

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
        encoder: Any = "bundled",
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.encoder = encoder
        self.random_state = random_state

    @property
    def _plan(self) -> Plan:
        return Plan(n_rounds=1, epochs_per_round=1)

    _scaling: FacetScaling

    def _make_scaling(self) -> FacetScaling:
        n_columns = self._source.n_columns
        assert n_columns is not None  # `_read` of the base makes vectors of everything
        return FacetScaling(self._source.slices, n_columns)

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        if isinstance(self._source, VectorSource):
            self._scaling.fit(self._source.matrix)
        rows = self._scaled(self._source)
        found = _KMeans(
            self._n_clusters,
            n_init=self._settings.n_init,
            random_state=derive(self._seed, "k-means") % 2**32,
        ).fit(rows)
        self._centres = found.cluster_centers_.astype(np.float32)
        self._margin = mean_margin(found.transform(rows))
        progress(1, 1)

    def _read_out(self, source: Source) -> tuple[Floats, Floats]:
        rows = self._scaled(source)
        return rows, self._near(rows)
