"""COBRA: over-cluster, ask about the closest super-instances, merge what is the same."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Question
from likewise.estimators.pair_questioner import recently_passed
from likewise.methods.rivals.constrained import squared
from likewise.methods.rivals.own_questions import OwnQuestions
from likewise.methods.rivals.rows import Indexes, RowsRival
from likewise.methods.shared_parameters import VectorParameters
from likewise.oracles.base import Oracle
from likewise.queries.base import encode_pairs
from likewise.seeds import derive
from likewise.types import Floats

_DEFAULT = 25  # super-instances where no budget is known; the paper's smallest
_GROWTH = 1.25  # more super-instances where all relations are known and questions are left


@dataclass(eq=False, repr=False)
class Cobra(OwnQuestions, VectorParameters, RowsRival):
    """Super-instances by k-means, merged by the answers about their middle images.

    Parameters
    ----------
    n_clusters : int
        Where the budget ends before everything is known, merging goes on by distance alone
        until so many clusters are left.
    n_super : int, optional
        Super-instances; by default as many as the budget can settle.
    encoder : str or Encoder
        How pictures become vectors.
    random_state : int, optional

    Notes
    -----
    T. Van Craenendonck, S. Dumančić, H. Blockeel: *COBRA: A fast and simple method for active
    clustering with pairwise constraints*. IJCAI 2018. K-means makes N_S super-instances, each
    stands for its images and is itself represented by its medoid. Clusters begin as single
    super-instances. Again and again the two closest clusters whose relation is not known are
    compared, by asking about their two closest super-instances: "same" merges them, "different"
    keeps them apart, and what follows by transitivity and entailment is never asked. It ends
    when every relation is known.

    The questions are the method, so there is no strategy to choose.

    Choices. The paper leaves N_S to the user and counts the questions it comes to; here the
    budget is given, so N_S follows from it: with K clusters a super-instance costs about
    (K + 1) / 2 questions. Where all relations are known and questions are left, k-means makes a
    quarter more super-instances, each represented by an image that was asked about, if it has
    one, so that nothing is asked twice. With `n_super` given it simply ends. *Inferred:* the
    paper always finishes and K is a result of it; if a budget ends early, the closest clusters
    (mean distance of their super-instances) that are not known to differ are merged until
    `n_clusters` are left, and of more clusters than that the smallest go to the nearest others.

    Published property: every merge is an answer or follows from answers, and it needs far
    fewer questions than pairs of super-instances.
    """

    too_few: ClassVar[str] = (
        "only {n_open} pairs of super-instances are open; everything else is known."
    )

    n_clusters: int = 8
    _: KW_ONLY
    n_super: int | None = None

    def _build(self) -> None:
        super()._build()
        self._found: SuperInstances | None = None

    @property
    def _supers(self) -> "SuperInstances":
        """Return the super-instances, made when they are first needed: the budget is known then."""
        if self._found is None:
            self._found = self._make(self._settings.n_super or self._affordable())
        return self._found

    def _make(self, n: int) -> "SuperInstances":
        asked = {i for a in self.constraints_.answers.values() for i in a.question.images}
        seed = derive(self._seed, "super-instances") % 2**32
        return super_instances(self._own_rows, min(n, len(self._source)), sorted(asked), seed)

    def _affordable(self) -> int:
        k = self._n_clusters
        return max(2 * self._asker.budget // (k + 1), 2 * k) if self._asker.budget else _DEFAULT

    # -- asking -------------------------------------------------------------

    def _ask_what_is_left(self, n: int) -> list[Question]:
        pairs = self._supers.open_pairs(self.constraints_)[:n]
        n_super = len(self._supers.medoids)
        while len(pairs) < n and n_super < len(self._source) and self._settings.n_super is None:
            n_super = int(_GROWTH * n_super) + 1
            self._found = self._make(n_super)
            pairs = self._found.open_pairs(self.constraints_)[:n]
        self._asker.n_asked += len(pairs)
        return [Question.pair(int(i), int(j)) for i, j in pairs]

    def _question(self, oracle: Oracle, n: int) -> None:
        """Ask one by one, since every answer changes which clusters are closest."""
        for _ in range(n):
            questions = self._ask_what_is_left(1)
            if not questions:
                return
            self._put(questions, oracle)

    # -- merging --------------------------------------------------------------

    def _group(self, rows: Floats) -> Indexes:
        merged = self._supers.merged(self.constraints_, self._n_clusters)
        return merged[self._supers.place]


@dataclass(frozen=True)
class SuperInstances:
    """Small clusters that answers merge.

    Parameters
    ----------
    place : array of shape (n,)
        The super-instance of each image.
    medoids : array of shape (s,)
        The image nearest the middle of each.
    away : array of shape (s, s)
        Distances between the middles.
    """

    place: Indexes
    medoids: Indexes
    away: npt.NDArray[np.float32]

    def open_pairs(self, graph: ConstraintGraph) -> Indexes:
        """Return pairs of medoids to ask about, closest first, one for each two clusters."""
        first, second = np.triu_indices(len(self.medoids), k=1)
        relations = graph.relations(self.medoids)
        is_bad = np.isin(self.medoids, list(graph.bad_images))
        is_open = (relations[first, second] == 0) & ~is_bad[first] & ~is_bad[second]
        first, second = first[is_open], second[is_open]
        order = np.argsort(self.away[first, second], kind="stable")
        first, second = first[order], second[order]
        pairs = np.sort(np.column_stack([self.medoids[first], self.medoids[second]]), axis=1)
        if passed := recently_passed(graph):
            n = graph.n_images
            is_new = ~np.isin(encode_pairs(pairs, n), encode_pairs(np.array(list(passed)), n))
            first, second, pairs = first[is_new], second[is_new], pairs[is_new]
        groups = graph.groups()[self.medoids]
        clusters = np.sort(np.column_stack([groups[first], groups[second]]), axis=1)
        codes = clusters[:, 0] * (groups.max() + 1) + clusters[:, 1]
        closest = np.sort(np.unique(codes, return_index=True)[1])
        found: Indexes = pairs[closest]
        return found

    def merged(self, graph: ConstraintGraph, n_clusters: int) -> Indexes:
        """Return the cluster of each super-instance, below `n_clusters`."""
        cluster = np.unique(graph.groups()[self.medoids], return_inverse=True)[1]
        is_apart = graph.relations(self.medoids) < 0
        while cluster.max() + 1 > n_clusters:
            member = np.eye(cluster.max() + 1, dtype=np.float32)[cluster]  # (s, c)
            sizes = member.sum(axis=0)
            mean = member.T @ self.away @ member / np.outer(sizes, sizes)
            mean[(member.T @ is_apart @ member) > 0] = np.inf
            np.fill_diagonal(mean, np.inf)
            if not np.isfinite(mean).any():
                return self._largest(cluster, n_clusters)
            one, other = sorted(np.unravel_index(mean.argmin(), mean.shape))
            cluster = np.where(cluster == other, one, cluster)
            cluster = np.unique(cluster, return_inverse=True)[1]
        return cluster

    def _largest(self, cluster: Indexes, n_clusters: int) -> Indexes:
        """Return the largest clusters; what is in none of them joins the nearest."""
        sizes = np.bincount(cluster, weights=np.bincount(self.place))
        kept = np.argsort(-sizes, kind="stable")[:n_clusters]
        number = np.full(len(sizes), -1)
        number[kept] = np.arange(n_clusters)
        found = number[cluster]
        settled = np.flatnonzero(found >= 0)
        for s in np.flatnonzero(found < 0):
            found[s] = found[settled[self.away[s, settled].argmin()]]
        return found


def super_instances(rows: Floats, n: int, asked: list[int], seed: int) -> SuperInstances:
    """Return `n` super-instances of `rows`, fewer if rows are alike.

    Each is represented by the image nearest its middle, of those `asked` about if it has any.
    """
    n_distinct = len(np.unique(rows, axis=0)) if len(rows) < 4 * n else n
    found = KMeans(min(n, n_distinct), n_init=1, random_state=seed).fit(rows)
    used, place = np.unique(found.labels_, return_inverse=True)
    middles = found.cluster_centers_[used].astype(np.float32)
    distance = np.square(rows - middles[place]).sum(axis=1)
    is_new = np.ones(len(rows), dtype=bool)
    is_new[asked] = False
    nearest_first = np.lexsort((distance, is_new, place))
    medoids = nearest_first[np.searchsorted(place[nearest_first], np.arange(len(used)))]
    return SuperInstances(place, medoids, np.sqrt(squared(middles, middles)))
