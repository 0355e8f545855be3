"""Base of the methods without assignments of their own: k-means on z gives clusters."""

from collections.abc import Mapping
from typing import Any

from likewise.estimators.centroids import cosine_soft_assign, fit_centroids
from likewise.methods.fitted import Floats
from likewise.methods.source import Source
from likewise.methods.stepping import SteppingClusterer
from likewise.progress import Progress


class CentresClusterer(SteppingClusterer):
    """Centres are found after every training, saved with the model, and read out by nearness."""

    @property
    def _needs_centres(self) -> bool:
        """Return whether there is no assignment head to read."""
        return True

    def _build(self) -> None:
        super()._build()
        self._centres: Floats | None = None

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        super()._improve(n_epochs, progress)
        if self._needs_centres:
            embeddings = super()._read_out(self._source)[0]
            self._centres = fit_centroids(embeddings, self._n_clusters, self._seed)

    def _read_out(self, source: Source) -> tuple[Floats, Floats]:
        embeddings, probabilities = super()._read_out(source)
        if self._centres is None:
            return embeddings, probabilities
        return embeddings, cosine_soft_assign(embeddings, self._centres)

    def _extra_arrays(self) -> dict[str, Any]:
        return {"centres": self._centres}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._centres = arrays.get("centres")
