"""Select images to ask about: representative ones, and the centres of uncertain regions."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning

from likewise.estimators.thread_limits import single_threaded
from likewise.random_streams import derive
from likewise.types import Floats, Indexes

Mask = npt.NDArray[np.bool_]
_MIN_UNCERTAIN = 60  # images among which uncertain regions are searched
_MAX_CANDIDATES = 6_000  # images considered in one selection


@single_threaded
def representative_images(rows: Floats, n: int, seed: int) -> Indexes:
    """Return the central images of `n` k-means clusters, ordered so that every prefix covers all.

    Parameters
    ----------
    rows : array of shape (n_images, d)
    n : int
        Clusters, each much smaller than a group (*super-instances*).
    seed : int

    Returns
    -------
    images : array of shape (at most n,)
        In greedy facility-location order: each image is the one that, with those before it, has
        the smallest sum of squared distances to all clusters, weighted by their sizes.
    """
    n = min(n, len(rows))
    kmeans = MiniBatchKMeans(
        n, n_init=3, batch_size=2048, random_state=derive(seed, "coverage") % 2**31
    )
    _fit(kmeans, rows)
    clusters = [np.flatnonzero(kmeans.labels_ == c) for c in range(n)]
    central = [
        members[np.linalg.norm(rows[members] - center, axis=1).argmin()]
        for members, center in zip(clusters, kmeans.cluster_centers_, strict=True)
        if len(members)
    ]
    images = np.array(central, dtype=np.intp)
    sizes = [len(members) for members in clusters if len(members)]
    return images[_facility_location_order(rows[images], sizes)]


def _facility_location_order(
    centers: Floats, sizes: Sequence[int], known: Floats | None = None
) -> Indexes:
    """Return the greedy order in which every prefix, with the known rows, covers all centers."""
    between = np.linalg.norm(centers[:, None] - centers[None, :], axis=2) ** 2
    remaining = np.full(len(centers), np.inf)
    if known is not None and len(known):
        remaining = cdist(centers, known, "sqeuclidean").min(axis=1)
    order: list[int] = []
    for _ in centers:
        costs = np.minimum(remaining, between) @ np.asarray(sizes)
        costs[order] = np.inf
        order.append(int(costs.argmin()))
        remaining = np.minimum(remaining, between[order[-1]])
    return np.array(order, dtype=np.intp)


@single_threaded
def representative_in_learned_space(
    rows: Floats, is_covered: Mask, n: int, is_open: Mask
) -> Indexes:
    """Return the central open images of `n` k-means clusters of the learned space.

    Groups are denser there than in the feature blocks that `representative_images` clusters, so no
    questions are spent on differences that the answers have shown to be irrelevant.

    Parameters
    ----------
    rows : array of shape (n_images, d)
        Learned so far.
    is_covered : array of shape (n_images,)
        Images that answers mention.
    n : int
    is_open : array of shape (n_images,)
        Images that may be asked about.

    Returns
    -------
    images : array of shape (at most n,)
        Ordered so that every prefix, with the covered images, covers the collection.
    """
    candidates = np.arange(0, len(rows), -(-len(rows) // _MAX_CANDIDATES))
    candidates = candidates[is_open[candidates]]
    if len(candidates) <= n:
        return candidates
    kmeans = _fit(KMeans(n, n_init=1, max_iter=20, random_state=0), rows[candidates])
    distances = _distances_to_center(rows[candidates], kmeans)
    clusters = [np.flatnonzero(kmeans.labels_ == c) for c in range(n)]
    clusters = [members for members in clusters if len(members)]
    central = candidates[[members[distances[members].argmin()] for members in clusters]]
    sizes = [len(members) for members in clusters]
    return central[_facility_location_order(rows[central], sizes, rows[is_covered])]


@single_threaded
def uncertain_regions(probabilities: Floats, rows: Floats, is_open: Mask, n: int) -> Indexes:
    r"""Return the central open images of `n` regions where the model is uncertain.

    Notes
    -----
    With the margin :math:`m = p_{(1)} - p_{(2)}`, the less certain half of the open images is
    divided by k-means with weights :math:`(1 - m)^2` into `n` regions of the learned space, and the
    central image of each is selected, largest total weight first. The single least certain image
    is often an outlier, and its answer helps no other image. The images next to the centres follow,
    for a person who answers faster than the model is trained.
    """
    open_images = np.flatnonzero(is_open)
    if len(open_images) <= n:
        return open_images
    uncertain = _less_certain_half(probabilities, open_images)
    weight = (1 - _margin(probabilities[uncertain])) ** 2 + 1e-6
    kmeans = KMeans(min(n, len(uncertain)), n_init=1, max_iter=20, random_state=0)
    _fit(kmeans, rows[uncertain], weight)
    distances = _distances_to_center(rows[uncertain], kmeans)
    total_weight = np.bincount(kmeans.labels_, weights=weight)
    regions = [np.flatnonzero(kmeans.labels_ == c) for c in np.argsort(-total_weight)]
    nearest = [members[np.argsort(distances[members], kind="stable")] for members in regions]
    selected = [members[rank] for rank in range(2) for members in nearest if len(members) > rank]
    return uncertain[selected]


def _fit(kmeans: Any, rows: Floats, weight: Floats | None = None) -> Any:
    """Fit k-means, without a warning if there are fewer distinct rows than clusters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        kmeans.fit(rows, sample_weight=weight)
    return kmeans


def _distances_to_center(rows: Floats, kmeans: KMeans) -> Floats:
    """Return the distance of each row to the centre of its own cluster."""
    distances: Floats = np.linalg.norm(rows - kmeans.cluster_centers_[kmeans.labels_], axis=1)
    return distances


def _less_certain_half(probabilities: Floats, open_images: Indexes) -> Indexes:
    """Return the half of the images with the smaller margins; of very many, a sample."""
    candidates = open_images[:: -(-len(open_images) // _MAX_CANDIDATES)]
    order = np.argsort(_margin(probabilities[candidates]), kind="stable")
    return candidates[order[: max(_MIN_UNCERTAIN, len(order) // 2)]]


def _margin(probabilities: Floats) -> Floats:
    if probabilities.shape[1] < 2:
        return np.zeros(len(probabilities), dtype=np.float32)
    top = np.partition(probabilities, -2, axis=1)[:, -2:]
    margin: Floats = top[:, 1] - top[:, 0]
    return margin
