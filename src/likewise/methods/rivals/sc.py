"""SC: spectral clustering of the vectors, one call of scikit-learn."""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import SpectralClustering

from likewise.methods.readout import distances
from likewise.methods.rivals.rows import Indexes, RowsRival, means
from likewise.methods.shared_parameters import VectorParameters
from likewise.seeds import derive
from likewise.types import Floats

_MOST = 10_000  # images whose graph is looked at


@dataclass(eq=False, repr=False)
class SC(VectorParameters, RowsRival):
    """Spectral clustering: unguided, nothing is asked.

    Parameters
    ----------
    n_clusters : int
    n_neighbours : int
        Neighbours of an image in the graph.
    encoder : str or Encoder
        How pictures become vectors.
    random_state : int, optional

    Notes
    -----
    L. Zelnik-Manor, P. Perona: *Self-tuning spectral clustering*. NIPS 2005, the row SC of the
    historical table of [CC]_. Images are joined to their nearest neighbours; the leading
    eigenvectors of the normalised Laplacian are clustered by k-means.

    Choices. A graph of neighbours is scikit-learn's form of the paper's local scaling: it, too,
    does not care that some regions are denser. *Fidelity:* the paper's table looks at pixels;
    ours, like every rival here, at the same vectors as all other methods. Of more than 10,000
    images, evenly spaced ones are clustered and the others join the nearest mean.

    Published property: it separates what is connected, where k-means separates what is round.
    """

    asks: ClassVar[tuple[str, ...]] = ()

    n_clusters: int = 8
    _: KW_ONLY
    n_neighbours: int = 10

    def _group(self, rows: Floats) -> Indexes:
        return on_a_part(rows, self._n_clusters, self._cluster)

    def _cluster(self, rows: Floats) -> Indexes:
        method = SpectralClustering(
            self._n_clusters,
            affinity="nearest_neighbors",
            n_neighbors=min(self._settings.n_neighbours, len(rows)),
            random_state=derive(self._seed, "spectral") % 2**31,
        )
        with warnings.catch_warnings():  # clusters that do not touch are what one hopes for
            warnings.filterwarnings("ignore", message="Graph is not fully connected")
            found: Indexes = method.fit_predict(rows)
        return found


def on_a_part(rows: Floats, n_clusters: int, cluster: Any) -> Indexes:
    """Return clusters of all rows, found on at most 10,000 evenly spaced ones."""
    part = rows[:: -(-len(rows) // _MOST)]
    found: Indexes = cluster(part)
    if len(part) == len(rows):
        return found
    nearest: Indexes = np.argmin(centroid_distances(rows, means(part, found, n_clusters)), axis=1)
    return nearest
