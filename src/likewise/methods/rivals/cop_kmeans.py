"""COP-KMeans: k-means that never breaks an answer, or says that it cannot."""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from likewise.errors import LikewiseWarning
from likewise.methods.rivals.constrained import (
    Bound,
    bound_images,
    moved,
    spread_centres,
    squared,
)
from likewise.methods.rivals.rows import Indexes, RowsRival
from likewise.methods.shared_parameters import PairParameters, VectorParameters
from likewise.types import Floats

_MAX_STEPS = 50


@dataclass(eq=False, repr=False)
class CopKMeans(PairParameters, VectorParameters, RowsRival):
    r"""K-means in which no image may go where an answer forbids it.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        Starts, each with other centres and another order of the images; the best that breaks no
        answer is kept.
    strategy : str or QueryStrategy
        How pairs are chosen.
    candidates : {"random", "anchored", "anchored-wide"}
        Which pairs are considered.
    encoder : str or Encoder
        How pictures become vectors.
    random_state : int, optional

    Attributes
    ----------
    is_satisfied_ : bool
        Whether clusters were found that break no answer. If not, a warning said so.

    Notes
    -----
    K. Wagstaff, C. Cardie, S. Rogers, S. Schrödl: *Constrained k-means clustering with
    background knowledge*. ICML 2001. In every step each image goes to the nearest centre
    among those at which no "different" image sits already; images that are "same" go together.
    If an image finds every centre forbidden, the start has failed.

    Choices. Images tied by "same" answers are moved as one, which is the paper's rule applied
    to the transitive closure its section 3 asks for. The order in which images choose is not
    given in the paper and decides success, since it is greedy: half of our starts use a random
    order, half begin with the groups that differ from most others. The questions are pairs of
    any strategy; the paper draws them at random.

    *Fidelity:* the paper returns nothing when it fails. Here the image that finds every centre
    forbidden goes to the nearest, `is_satisfied_` is False, and a warning says how many answers
    the best start broke; `labels_` then honours them as it does for every method.

    Published property: no constraint is broken, and accuracy rises with constraints, also of
    images in none of them.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(60, n_features=4, centers=3, random_state=0)
    >>> model = CopKMeans(n_clusters=3, random_state=0).fit(X, cl=[(0, 1), (1, 2), (0, 2)])
    >>> model.is_satisfied_, len(set(model.labels_[:3].tolist()))
    (True, 3)
    """

    n_clusters: int = 8
    _: KW_ONLY
    n_init: int = 6

    def _group(self, rows: Floats) -> Indexes:
        bound, k = bound_images(self.constraints_), self._n_clusters
        best: Attempt | None = None
        for start in range(self._settings.n_init):
            rng = self._rng("cop-kmeans", start)
            order = rng.permutation(len(bound.apart))
            if start % 2:  # those with most rivals first: fewer dead ends
                order = order[np.argsort([-len(bound.apart[g]) for g in order], kind="stable")]
            found = cop_kmeans(rows, k, bound, order, rng)
            if best is None or found[1:] < best[1:]:
                best = found
        assert best is not None  # at least one start
        self.is_satisfied_ = best.n_stuck == 0
        if not self.is_satisfied_:
            warnings.warn(
                f"COP-KMeans found no clusters that keep all {self.constraints_.n_answers} answers "
                f"in {self._settings.n_init} starts: {best.n_stuck} groups of images differ from "
                f"something in each of the {k} clusters; raise n_init or n_clusters, or take "
                "answers back.",
                LikewiseWarning,
                stacklevel=5,
            )
        return best.clusters


class Attempt(NamedTuple):
    """What one start came to; compared by `n_stuck`, then by `inertia`."""

    clusters: Indexes
    n_stuck: int
    inertia: float


def cop_kmeans(
    rows: Floats, n_clusters: int, bound: Bound, order: Indexes, rng: np.random.Generator
) -> Attempt:
    """Return the clusters of one start."""
    centres = spread_centres(rows, n_clusters, rng, rows[:0])
    clusters, n_stuck, cost = _assigned(squared(rows, centres), bound, order)
    for _ in range(_MAX_STEPS):
        before = clusters
        centres = moved(rows, clusters, centres)
        away = squared(rows, centres)
        clusters, n_stuck, cost = _assigned(away, bound, order)
        if np.array_equal(before, clusters):
            break
    return Attempt(clusters, n_stuck, cost)


def _assigned(
    away: npt.NDArray[np.float32], bound: Bound, order: Indexes
) -> tuple[Indexes, int, float]:
    """Return the nearest cluster that is allowed, how many groups had none, and the cost."""
    clusters = away.argmin(axis=1)
    if len(bound.images):
        costs = bound.sums(away)
        chosen = np.full(len(costs), -1, dtype=np.intp)
        n_stuck = 0
        for group in order.tolist():
            taken = {int(chosen[other]) for other in bound.apart[group]} - {-1}
            free = [c for c in range(costs.shape[1]) if c not in taken]
            n_stuck += not free
            choice = np.array(free or range(costs.shape[1]))
            chosen[group] = choice[costs[group, choice].argmin()]
        clusters[bound.images] = chosen[bound.place]
    else:
        n_stuck = 0
    return clusters, n_stuck, float(away[np.arange(len(away)), clusters].sum(dtype=np.float64))
