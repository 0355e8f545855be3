"""Classic clustering without a network or questions: SC, AC and NMF, by scikit-learn."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.decomposition import NMF as _NMF
from sklearn.exceptions import ConvergenceWarning

from likewise.constraints.graph import ConstraintGraph
from likewise.estimators.kmeans import centroid_distances
from likewise.random_streams import derive
from likewise.types import Floats, Indexes
from likewise_bench.baselines.partition_learner import Partition, PartitionBaseline, cluster_means

_MAX_ROWS = 10_000  # larger collections are clustered by a subsample


@dataclass(eq=False, repr=False, kw_only=True)
class SC(PartitionBaseline):
    """Spectral clustering: unsupervised, asks no questions.

    Parameters
    ----------
    n_clusters : int
    n_neighbours : int
        Neighbours of an image in the graph.
    encoder : str or Encoder
        Embeds images.
    random_state : int, optional

    Notes
    -----
    L. Zelnik-Manor, P. Perona: *Self-tuning spectral clustering*. NIPS 2005, the row SC of the
    historical table of [CC]_. The leading eigenvectors of the normalised Laplacian of a
    similarity graph are clustered by k-means.

    Choices. A k-NN graph is scikit-learn's counterpart of the paper's local scaling: both are
    insensitive to different densities. *Fidelity:* the paper's table is computed on pixels; ours,
    like every baseline here, on the same vectors as all other methods. Of more than 10,000
    images, evenly spaced ones are clustered and the others go to the nearest mean.

    Published property: it separates connected components, where k-means separates round clusters.
    """

    asks: ClassVar[tuple[str, ...]] = ()

    n_neighbours: int = 10

    def _make_partition(self) -> Partition:
        return partial(spectral_clusters, n_neighbours=self.settings_.n_neighbours)


@dataclass(eq=False, repr=False, kw_only=True)
class AC(PartitionBaseline):
    """Agglomerative clustering: unsupervised, asks no questions.

    Parameters
    ----------
    n_clusters : int
    linkage : {"ward", "average", "complete", "single"}
        Which two clusters are merged next.
    encoder : str or Encoder
        Embeds images.
    random_state : int, optional
        Not used: the method is deterministic.

    Notes
    -----
    K. C. Gowda, G. Krishna: *Agglomerative clustering using the concept of mutual nearest
    neighbourhood*. Pattern Recognition 1978, the row AC of the historical table of [CC]_. Every
    image begins as a cluster; the two closest are merged until `n_clusters` remain.

    Choices. Ward linkage (the merge that adds least variance), scikit-learn's default, replaces
    the paper's mutual neighbourhood, which scikit-learn does not have. *Fidelity:* the same
    vectors as all other methods, not pixels. Of more than 10,000 images, evenly spaced ones are
    clustered and the others go to the nearest mean.

    Published property: with single linkage it follows a chain of neighbours of any shape.
    """

    asks: ClassVar[tuple[str, ...]] = ()

    linkage: Literal["ward", "average", "complete", "single"] = "ward"

    def _make_partition(self) -> Partition:
        return partial(agglomerative_clusters, linkage=self.settings_.linkage)


@dataclass(eq=False, repr=False, kw_only=True)
class NMF(PartitionBaseline):
    r"""Non-negative matrix factorisation: unsupervised, asks no questions.

    Parameters
    ----------
    n_clusters : int
        Also the number of components.
    n_steps : int
        Iterations of the factorisation.
    encoder : str or Encoder
        Embeds images.
    random_state : int, optional

    Notes
    -----
    D. Cai, X. He, X. Wang, H. Bao, J. Han: *Locality preserving nonnegative matrix
    factorization*. IJCAI 2009, the row NMF of the historical table of [CC]_:
    :math:`X \approx W H` with non-negative factors, one component (row of H) a cluster; an image
    belongs to the component with the largest share :math:`W_{ik} \|H_k\|`.

    Choices. Plain factorisation by scikit-learn, without the locality term, which it does not
    have. *Inferred:* our rows are centred, so each column becomes two, its positive and its
    negative part. *Fidelity:* the same vectors as all other methods, not pixels, and the
    component itself is the cluster, where the table runs k-means on W.

    Published property: components add and never cancel, so each is made of columns that rise
    together.
    """

    asks: ClassVar[tuple[str, ...]] = ()

    n_steps: int = 200

    def _make_partition(self) -> Partition:
        return partial(nmf_clusters, max_iter=self.settings_.n_steps)


def spectral_clusters(
    rows: Floats, n_clusters: int, constraints: ConstraintGraph, seed: int, *, n_neighbours: int
) -> Indexes:
    """Return the clusters of `rows` by spectral clustering of a k-NN graph."""

    def cluster(sample: Floats) -> Indexes:
        method = SpectralClustering(
            n_clusters,
            affinity="nearest_neighbors",
            n_neighbors=min(n_neighbours, len(sample)),
            random_state=derive(seed, "spectral") % 2**31,
        )
        with warnings.catch_warnings():  # separate components are welcome
            warnings.filterwarnings("ignore", message="Graph is not fully connected")
            clusters: Indexes = method.fit_predict(sample)
        return clusters

    return cluster_subsample(rows, n_clusters, cluster)


def agglomerative_clusters(
    rows: Floats, n_clusters: int, constraints: ConstraintGraph, seed: int, *, linkage: str
) -> Indexes:
    """Return the clusters of `rows` by agglomerative clustering."""
    method = AgglomerativeClustering(n_clusters, linkage=linkage)
    return cluster_subsample(rows, n_clusters, method.fit_predict)


def nmf_clusters(
    rows: Floats, n_clusters: int, constraints: ConstraintGraph, seed: int, *, max_iter: int
) -> Indexes:
    """Return the component with the largest share in each row."""
    method = _NMF(
        n_clusters, init="nndsvda", max_iter=max_iter, random_state=derive(seed, "nmf") % 2**31
    )
    with warnings.catch_warnings():  # an approximate factorisation is good enough
        warnings.simplefilter("ignore", ConvergenceWarning)
        shares = method.fit_transform(np.hstack([rows, -rows]).clip(min=0))
    largest: Indexes = (shares * np.linalg.norm(method.components_, axis=1)).argmax(axis=1)
    return largest


def cluster_subsample(
    rows: Floats, n_clusters: int, cluster: Callable[[Floats], Indexes]
) -> Indexes:
    """Return clusters of all rows, found on at most 10,000 evenly spaced ones."""
    sample = rows[:: -(-len(rows) // _MAX_ROWS)]
    clusters = cluster(sample)
    if len(sample) == len(rows):
        return clusters
    means = cluster_means(sample, clusters, n_clusters)
    nearest: Indexes = np.argmin(centroid_distances(rows, means), axis=1)
    return nearest
