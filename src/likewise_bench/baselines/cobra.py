"""COBRA: over-cluster, ask about the closest super-instances, merge those that are the same."""

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Question
from likewise.errors import PoolExhaustedError
from likewise.estimators.data import Data
from likewise.estimators.fit_rounds import Watch
from likewise.estimators.parts import Learner, QueryState, Questioner
from likewise.estimators.questioners import recently_passed
from likewise.oracles.base import Oracle
from likewise.queries.base import encode_pairs
from likewise.random_streams import derive
from likewise.types import Floats, Indexes, Progress
from likewise_bench.baselines.constrained_kmeans import squared_distances
from likewise_bench.baselines.partition_learner import PartitionBaseline, PartitionLearner

_DEFAULT_N_SUPER = 25  # without a budget; the paper's smallest
_GROWTH = 1.25  # more super-instances when all relations are known and questions are left


@dataclass(eq=False, repr=False, kw_only=True)
class Cobra(PartitionBaseline):
    """Super-instances by k-means, merged by answers about their medoids.

    Parameters
    ----------
    n_clusters : int
        If the budget ends before all relations are known, the closest clusters are merged until
        `n_clusters` remain.
    n_super : int, optional
        Number of super-instances; by default as many as the budget can resolve.
    encoder : str or Encoder
        Embeds images.
    random_state : int, optional

    Attributes
    ----------
    super_instances_ : SuperInstances

    Notes
    -----
    T. Van Craenendonck, S. Dumančić, H. Blockeel: *COBRA: A fast and simple method for active
    clustering with pairwise constraints*. IJCAI 2018. K-means makes N_S super-instances, each
    represented by its medoid. Clusters begin as single super-instances. Repeatedly, the two
    closest clusters whose relation is unknown are compared, by asking about their two closest
    super-instances: "same" merges them, "different" is a cannot-link, and implied relations are
    never asked. It ends when every relation is known.

    The questions are part of the method, so it has no `strategy`.

    Choices. The paper leaves N_S to the user and counts the questions; here the budget is given
    and N_S follows from it: with K clusters a super-instance costs about (K + 1) / 2 questions.
    If all relations are known and questions are left, k-means makes a quarter more
    super-instances, each represented by an image that was asked about, if it has one, so that
    no question is repeated. With `n_super` given it ends instead. *Inferred:* in the paper K
    is a result; if a budget ends early, the closest clusters (mean distance of their
    super-instances) without a cannot-link are merged until `n_clusters` remain, and of more
    clusters than that the smallest join the nearest others.

    Published property: every merge is an answer or is implied by answers, and it needs far
    fewer questions than pairs of super-instances.
    """

    n_super: int | None = None

    @property
    def super_instances_(self) -> "SuperInstances":
        """Return the present super-instances."""
        return self._partition.super_instances(self.constraints_)

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        self._partition = CobraPartition(self.settings_.n_super)
        learner = PartitionLearner(self._partition)
        self._partition.learner = learner
        return learner, CobraQuestioner(self._partition)

    def run_rounds(
        self, oracle: Oracle | None, n_questions: int, progress: Progress, watch: Watch | None
    ) -> None:
        """Ask and train in rounds; the budget decides the number of super-instances."""
        self._partition.budget = n_questions
        super().run_rounds(oracle, n_questions, progress, watch)

    def ask_oracle(self, oracle: Oracle, n: int) -> None:
        """Ask one by one, since every answer changes which clusters are closest."""
        for _ in range(n):
            questions = self.questioner_.propose(1, self.query_state(), allow_fewer=True)
            if not questions:
                return
            self.n_asked_ += 1
            self.put(questions, oracle)


class CobraPartition:
    """Super-instances of the learner's rows, made when first needed: the budget is known then.

    Parameters
    ----------
    n_super : int, optional
        By default as many as the budget can resolve.
    """

    learner: PartitionLearner

    def __init__(self, n_super: int | None) -> None:
        self.n_super, self.budget = n_super, 0
        self._super_instances: SuperInstances | None = None

    def __call__(
        self, rows: Floats, n_clusters: int, constraints: ConstraintGraph, seed: int
    ) -> Indexes:
        """Return the merged super-instances of the images."""
        super_instances = self.super_instances(constraints)
        return super_instances.merge(constraints, n_clusters)[super_instances.member_of]

    def super_instances(self, constraints: ConstraintGraph) -> "SuperInstances":
        """Return the present super-instances."""
        if self._super_instances is None:
            return self.make(constraints, self.n_super or self._affordable())
        return self._super_instances

    def make(self, constraints: ConstraintGraph, n: int) -> "SuperInstances":
        """Replace the super-instances by `n` new ones."""
        asked = {i for a in constraints.answers.values() for i in a.question.images}
        rows, seed = self.learner.rows, derive(self.learner.seed, "super-instances") % 2**32
        made = make_super_instances(rows, min(n, len(rows)), sorted(asked), seed)
        self._super_instances = made
        return made

    def _affordable(self) -> int:
        k = self.learner.n_clusters
        return max(2 * self.budget // (k + 1), 2 * k) if self.budget else _DEFAULT_N_SUPER


class CobraQuestioner(Questioner):
    """Ask about the closest super-instances whose relation is unknown."""

    def __init__(self, partition: CobraPartition) -> None:
        self._partition = partition

    def propose(self, n: int, state: QueryState, *, allow_fewer: bool = False) -> list[Question]:
        """Return pairs of medoids, closest first; make more super-instances if all are known."""
        graph, partition = state.constraints, self._partition
        super_instances = partition.super_instances(graph)
        pairs, n_super = super_instances.open_pairs(graph)[:n], len(super_instances.medoids)
        while len(pairs) < n and n_super < graph.n_images and partition.n_super is None:
            n_super = int(_GROWTH * n_super) + 1
            pairs = partition.make(graph, n_super).open_pairs(graph)[:n]
        if len(pairs) < n and not allow_fewer:
            raise PoolExhaustedError(
                f"{n} questions were asked for but only {len(pairs)} pairs of super-instances "
                "are open; the relations of all others are known."
            )
        return [Question.pair(int(i), int(j)) for i, j in pairs]


@dataclass(frozen=True)
class SuperInstances:
    """Small clusters that are merged by answers about their medoids.

    Parameters
    ----------
    member_of : array of shape (n,)
        The super-instance of each image.
    medoids : array of shape (s,)
        The image nearest the mean of each.
    distances : array of shape (s, s)
        Between the means.
    """

    member_of: Indexes
    medoids: Indexes
    distances: Floats

    def open_pairs(self, graph: ConstraintGraph) -> Indexes:
        """Return pairs of medoids to ask about, closest first, one for each two clusters."""
        first, second = np.triu_indices(len(self.medoids), k=1)
        relations = graph.relations(self.medoids)
        is_bad = np.isin(self.medoids, list(graph.bad_images))
        is_open = (relations[first, second] == 0) & ~is_bad[first] & ~is_bad[second]
        first, second = first[is_open], second[is_open]
        order = np.argsort(self.distances[first, second], kind="stable")
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
        open_pairs: Indexes = pairs[closest]
        return open_pairs

    def merge(self, graph: ConstraintGraph, n_clusters: int) -> Indexes:
        """Return the cluster of each super-instance, below `n_clusters`.

        Must-links are merged; above `n_clusters`, the closest clusters without a cannot-link
        are merged until `n_clusters` remain.
        """
        cluster = np.unique(graph.groups()[self.medoids], return_inverse=True)[1]
        cannot_link = graph.relations(self.medoids) < 0
        while cluster.max() + 1 > n_clusters:
            member = np.eye(cluster.max() + 1, dtype=np.float32)[cluster]  # (s, c)
            sizes = member.sum(axis=0)
            mean = member.T @ self.distances @ member / np.outer(sizes, sizes)
            mean[(member.T @ cannot_link @ member) > 0] = np.inf
            np.fill_diagonal(mean, np.inf)
            if not np.isfinite(mean).any():
                return self._keep_largest(cluster, n_clusters)
            one, other = sorted(np.unravel_index(mean.argmin(), mean.shape))
            cluster = np.where(cluster == other, one, cluster)
            cluster = np.unique(cluster, return_inverse=True)[1]
        return cluster

    def _keep_largest(self, cluster: Indexes, n_clusters: int) -> Indexes:
        """Return the largest clusters; a super-instance of another one joins the nearest."""
        sizes = np.bincount(cluster, weights=np.bincount(self.member_of))
        kept = np.argsort(-sizes, kind="stable")[:n_clusters]
        number = np.full(len(sizes), -1)
        number[kept] = np.arange(n_clusters)
        merged = number[cluster]
        assigned = np.flatnonzero(merged >= 0)
        for s in np.flatnonzero(merged < 0):
            merged[s] = merged[assigned[self.distances[s, assigned].argmin()]]
        return merged


def make_super_instances(rows: Floats, n: int, asked: list[int], seed: int) -> SuperInstances:
    """Return `n` super-instances of `rows` by k-means, fewer if rows are equal.

    The medoid is the image nearest the mean, among those in `asked` if there are any: an image
    that was asked about keeps representing its super-instance.
    """
    n_distinct = len(np.unique(rows, axis=0)) if len(rows) < 4 * n else n
    kmeans = KMeans(min(n, n_distinct), n_init=1, random_state=seed).fit(rows)
    used, member_of = np.unique(kmeans.labels_, return_inverse=True)
    means = kmeans.cluster_centers_[used].astype(np.float32)
    distance = np.square(rows - means[member_of]).sum(axis=1)
    is_new = np.ones(len(rows), dtype=bool)
    is_new[asked] = False
    nearest_first = np.lexsort((distance, is_new, member_of))
    medoids = nearest_first[np.searchsorted(member_of[nearest_first], np.arange(len(used)))]
    return SuperInstances(member_of, medoids, np.sqrt(squared_distances(means, means)))
