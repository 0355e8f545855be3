"""COP-KMeans violates no constraint or warns; PCKMeans pays a penalty for each violation."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from likewise.constraints.assignment import violated_answers
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.errors import LikewiseWarning
from likewise.estimators.kmeans import KMeans
from likewise.metrics import accuracy
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream
from likewise_bench.baselines.constrained_kmeans import (
    CopKMeans,
    constrained_groups,
    squared_distances,
)
from likewise_bench.baselines.pckmeans import PCKMeans, pckmeans, pckmeans_cost
from tests.estimators.made_data import two_factors

X, DOMINANT, TARGET = two_factors(120, k=3)


@pytest.mark.parametrize("seed", range(4))
def test_cop_kmeans_violates_no_constraint(seed: int) -> None:
    model = CopKMeans(n_clusters=3, random_state=seed)
    model.fit(X, oracle=LabelOracle(TARGET), n_questions=40)
    assert model.is_satisfied_
    assert model.violations_ == 0
    assert violated_answers(model.probabilities_.argmax(axis=1), model.constraints_) == []
    assert len(set(model.labels_)) == 3


def test_cop_kmeans_warns_if_no_start_satisfies_all_constraints() -> None:
    four = [(i, j) for i in range(4) for j in range(i)]
    model = CopKMeans(n_clusters=3, n_init=2, random_state=0)
    with pytest.warns(
        LikewiseWarning, match=r"no clusters that satisfy all 6 answers in 2 starts: 1 g"
    ):
        model.fit(X, cl=four)
    assert not model.is_satisfied_
    assert model.violations_ == 1


def test_without_answers_both_are_kmeans() -> None:
    rows, _ = make_blobs(90, n_features=5, centers=3, random_state=0)
    found = KMeans(n_clusters=3, random_state=0).fit(rows).labels_
    assert accuracy(found, CopKMeans(n_clusters=3, random_state=0).fit(rows).labels_) == 1
    assert accuracy(found, PCKMeans(n_clusters=3, random_state=0).fit(rows).labels_) == 1


@pytest.mark.parametrize("method", [CopKMeans, PCKMeans])
def test_answers_help_on_images_that_are_in_no_answer(method: type) -> None:
    rng = stream(0, "two ways to cut a square")
    dominant, target = rng.integers(2, size=(2, 240))
    rows = np.stack([3 * dominant, 2.5 * target], axis=1) + rng.normal(size=(240, 2)) * 0.5
    images = np.arange(40)
    pairs = [(0, int(i)) for i in images[1:]]
    relations = np.where(target[0] == target[images[1:]], 1, -1)
    guided = method(n_clusters=2, random_state=0).fit(rows, pairs=pairs, relations=relations)
    free = method(n_clusters=2, random_state=0).fit(rows)
    rest = np.arange(40, 240)
    assert accuracy(target[rest], guided.labels_[rest]) > 0.95
    assert accuracy(target[rest], free.labels_[rest]) < 0.7


def _graph() -> ConstraintGraph:
    graph = ConstraintGraph(12)
    for i, j, relation in [(0, 1, 1), (1, 2, 1), (3, 4, 1), (2, 3, -1), (5, 6, -1)]:
        graph.add(i, j, Relation(relation))
    return graph


def test_constrained_groups_are_the_images_in_a_constraint() -> None:
    groups = constrained_groups(_graph())
    assert groups.images.tolist() == list(range(7))
    assert groups.sizes.tolist() == [3, 2, 1, 1]
    assert groups.cannot_links == [{1}, {0}, {3}, {2}]
    rows = np.arange(24, dtype=np.float32).reshape(12, 2)
    np.testing.assert_array_equal(groups.sums(rows)[0], rows[:3].sum(axis=0))


def test_the_cost_of_pckmeans_is_its_formula() -> None:
    """Half the squared distances, and w for each violated constraint, given or implied."""
    graph, rng = _graph(), stream(3, "rows")
    rows = rng.normal(size=(12, 3)).astype(np.float32)
    groups, weight = constrained_groups(graph), 2.0
    relations = graph.relations(groups.images)
    centres = rows[[0, 3, 5]]
    clusters, cost = pckmeans(rows, centres, groups, relations, weight, rng)
    moved = np.stack([rows[clusters == c].mean(axis=0) for c in range(3)])
    half = (squared_distances(rows, moved) / 2).astype(np.float32)
    slow = sum(float(half[i, clusters[i]]) for i in range(12))
    for i in range(12):
        for j in range(i):
            relation = graph.relation(i, j)
            is_violated = relation != 0 and (clusters[i] == clusters[j]) != (relation > 0)
            slow += weight * is_violated
    assert pckmeans_cost(half, clusters, groups, relations, weight) == pytest.approx(slow, rel=1e-5)
    assert cost >= slow - 1e-4  # moving the centres cannot raise the cost


def test_pckmeans_violates_a_constraint_if_that_costs_less() -> None:
    far = np.array([[0.0, 0], [0.1, 0], [10, 0], [10.1, 0]] * 3, dtype=np.float32)
    cheap = PCKMeans(n_clusters=2, weight=0.001, random_state=0).fit(far, ml=[(0, 2)])
    expensive = PCKMeans(n_clusters=2, weight=100.0, random_state=0).fit(far, ml=[(0, 2)])
    assert (cheap.violations_, expensive.violations_) == (1, 0)
    assert cheap.labels_[0] == cheap.labels_[2]  # labels_ satisfy it nevertheless
