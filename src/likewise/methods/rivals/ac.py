"""AC: agglomerative clustering of the vectors, one call of scikit-learn."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

from sklearn.cluster import AgglomerativeClustering

from likewise.methods.rivals.rows import Indexes, RowsRival
from likewise.methods.rivals.sc import on_a_part
from likewise.methods.shared_parameters import VectorParameters
from likewise.types import Floats


@dataclass(eq=False, repr=False)
class AC(VectorParameters, RowsRival):
    """Agglomerative clustering: unguided, nothing is asked.

    Parameters
    ----------
    n_clusters : int
    linkage : {"ward", "average", "complete", "single"}
        Which two clusters are merged next.
    encoder : str or Encoder
        How pictures become vectors.
    random_state : int, optional
        Not used: nothing is drawn.

    Notes
    -----
    K. C. Gowda, G. Krishna: *Agglomerative clustering using the concept of mutual nearest
    neighbourhood*. Pattern Recognition 1978, the row AC of the historical table of [CC]_. Every
    image begins as a cluster; the two closest are merged until `n_clusters` are left.

    Choices. Ward's linkage (the merge that adds least variance), scikit-learn's default, stands
    for the paper's mutual neighbourhood, which scikit-learn does not have: one call, as the
    table's row is usually made. *Fidelity:* the same vectors as all other methods, not pixels. Of
    more than 10,000 images, evenly spaced ones are clustered and the others join the nearest
    mean.

    Published property: with single linkage it follows a chain of neighbours of any shape.
    """

    asks: ClassVar[tuple[str, ...]] = ()

    n_clusters: int = 8
    _: KW_ONLY
    linkage: Literal["ward", "average", "complete", "single"] = "ward"

    def _group(self, rows: Floats) -> Indexes:
        method = AgglomerativeClustering(self._n_clusters, linkage=self._settings.linkage)
        return on_a_part(rows, self._n_clusters, method.fit_predict)
