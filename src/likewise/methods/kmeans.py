"""K-means on the vectors: the plainest clustering, and a row of every table."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from sklearn.cluster import KMeans as _KMeans

from likewise.heads.scaling import FacetScaling
from likewise.methods.base import Floats, PersonalClusterer
from likewise.methods.plan import Plan
from likewise.methods.readout import distances, mean_margin, softened
from likewise.methods.source import Source, VectorSource
from likewise.progress import Progress
from likewise.seeds import derive

Indexes = npt.NDArray[np.intp]
_READ_OUT = 4096  # images looked at together


class KMeans(PersonalClusterer):
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
    >>> from likewise.metrics.matching import accuracy
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

    def _build(self) -> None:
        n_columns = self._source.n_columns
        assert n_columns is not None  # `_read` of the base makes vectors of everything
        self._scaling = FacetScaling(self._source.slices, n_columns)
        self._centres: Floats | None = None
        self._margin = 1.0

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        if isinstance(self._source, VectorSource):
            self._scaling.fit(self._source.matrix)
        rows = self._scaled(self._source, np.arange(len(self._source)))
        found = _KMeans(
            self._n_clusters,
            n_init=self._settings.n_init,
            random_state=derive(self._seed, "k-means") % 2**32,
        ).fit(rows)
        self._centres = found.cluster_centers_.astype(np.float32)
        self._margin = mean_margin(found.transform(rows))
        progress(1, 1)

    def _read_out(self, source: Source) -> tuple[Floats, Floats]:
        parts = [
            self._look(source, np.arange(start, min(start + _READ_OUT, len(source))))
            for start in range(0, len(source), _READ_OUT)
        ]
        embeddings, probabilities = zip(*parts, strict=True)
        return np.concatenate(embeddings), np.concatenate(probabilities)

    def _look(self, source: Source, indexes: Indexes) -> tuple[Floats, Floats]:
        rows = self._scaled(source, indexes)
        if self._centres is None:  # nothing is known before the first training
            return rows, np.full((len(rows), self._n_clusters), 1 / self._n_clusters, np.float32)
        return rows, softened(distances(rows, self._centres), self._margin)

    def _scaled(self, source: Source, indexes: Indexes) -> Floats:
        with torch.no_grad():
            rows: Floats = self._scaling(source.batch(indexes)).numpy()
        return rows

    def _modules_to_save(self) -> dict[str, Any]:
        return {"scaling": self._scaling}

    def _extra_arrays(self) -> dict[str, Any]:
        return {"centres": self._centres, "margin": np.array([self._margin])}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._centres = arrays.get("centres")
        self._margin = float(arrays["margin"][0])
