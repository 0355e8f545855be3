"""COP-KMeans keeps every answer or says it cannot; PCKMeans pays for the ones it breaks."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from likewise.constraints.assignment import violated_answers
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.errors import LikewiseWarning
from likewise.methods.kmeans import KMeans
from likewise.methods.rivals.constrained import bound_images, squared
from likewise.methods.rivals.cop_kmeans import CopKMeans
from likewise.methods.rivals.pckmeans import PCKMeans, _cost, pckmeans
from likewise.metrics import accuracy
from likewise.oracles.simulated import LabelOracle
from likewise.seeds import stream
from tests.methods.made_data import two_factors

X, BOLD, FAINT = two_factors(120, k=3)


@pytest.mark.parametrize("seed", range(4))
def test_cop_k_means_breaks_no_answer_by_itself(seed: int) -> None:
    model = CopKMeans(n_clusters=3, random_state=seed)
    model.fit(X, oracle=LabelOracle(FAINT), n_questions=40)
    assert model.is_satisfied_
    assert model.violations_ == 0
    assert violated_answers(model.probabilities_.argmax(axis=1), model.constraints_) == []
    assert len(set(model.labels_)) == 3


def test_cop_k_means_says_that_it_cannot() -> None:
    four = [(i, j) for i in range(4) for j in range(i)]
    model = CopKMeans(n_clusters=3, n_init=2, random_state=0)
    with pytest.warns(
        LikewiseWarning, match=r"no clusters that keep all 6 answers in 2 starts: 1 g"
    ):
        model.fit(X, cl=four)
    assert not model.is_satisfied_
    assert model.violations_ == 1


def test_without_answers_both_are_k_means() -> None:
    rows, _ = make_blobs(90, n_features=5, centers=3, random_state=0)
    found = KMeans(n_clusters=3, random_state=0).fit(rows).labels_
    assert accuracy(found, CopKMeans(n_clusters=3, random_state=0).fit(rows).labels_) == 1
    assert accuracy(found, PCKMeans(n_clusters=3, random_state=0).fit(rows).labels_) == 1


@pytest.mark.parametrize("method", [CopKMeans, PCKMeans])
def test_answers_show_images_in_none_of_them_what_is_meant(method: type) -> None:
    rng = stream(0, "two ways to cut a square")
    first, meant = rng.integers(2, size=(2, 240))
    rows = np.stack([3 * first, 2.5 * meant], axis=1) + rng.normal(size=(240, 2)) * 0.5
    images = np.arange(40)
    pairs = [(0, int(i)) for i in images[1:]]
    relations = np.where(meant[0] == meant[images[1:]], 1, -1)
    guided = method(n_clusters=2, random_state=0).fit(rows, pairs=pairs, relations=relations)
    free = method(n_clusters=2, random_state=0).fit(rows)
    rest = np.arange(40, 240)
    assert accuracy(meant[rest], guided.labels_[rest]) > 0.95
    assert accuracy(meant[rest], free.labels_[rest]) < 0.7


def _told() -> ConstraintGraph:
    graph = ConstraintGraph(12)
    for i, j, relation in [(0, 1, 1), (1, 2, 1), (3, 4, 1), (2, 3, -1), (5, 6, -1)]:
        graph.add(i, j, Relation(relation))
    return graph


def test_bound_images_are_those_of_which_something_is_said() -> None:
    bound = bound_images(_told())
    assert bound.images.tolist() == list(range(7))
    assert bound.sizes.tolist() == [3, 2, 1, 1]
    assert bound.apart == [{1}, {0}, {3}, {2}]
    rows = np.arange(24, dtype=np.float32).reshape(12, 2)
    np.testing.assert_array_equal(bound.sums(rows)[0], rows[:3].sum(axis=0))


def test_the_cost_of_pckmeans_is_the_formula_and_the_best_of_all_assignments_is_found() -> None:
    """Distances over two, and w for each answer broken, given or implied."""
    graph, rng = _told(), stream(3, "rows")
    rows = rng.normal(size=(12, 3)).astype(np.float32)
    bound, weight = bound_images(graph), 2.0
    relations = graph.relations(bound.images)
    centres = rows[[0, 3, 5]]
    clusters, cost = pckmeans(rows, centres, bound, relations, weight, rng)
    moved = np.stack([rows[clusters == c].mean(axis=0) for c in range(3)])
    half = (squared(rows, moved) / 2).astype(np.float32)
    slow = sum(float(half[i, clusters[i]]) for i in range(12))
    for i in range(12):
        for j in range(i):
            relation = graph.relation(i, j)
            is_broken = relation != 0 and (clusters[i] == clusters[j]) != (relation > 0)
            slow += weight * is_broken
    assert _cost(half, clusters, bound, relations, weight) == pytest.approx(slow, rel=1e-5)
    assert cost >= slow - 1e-4  # moving centres only ever helps


def test_pckmeans_breaks_an_answer_that_costs_less_than_to_keep_it() -> None:
    far = np.array([[0.0, 0], [0.1, 0], [10, 0], [10.1, 0]] * 3, dtype=np.float32)
    cheap = PCKMeans(n_clusters=2, weight=0.001, random_state=0).fit(far, ml=[(0, 2)])
    dear = PCKMeans(n_clusters=2, weight=100.0, random_state=0).fit(far, ml=[(0, 2)])
    assert (cheap.violations_, dear.violations_) == (1, 0)
    assert cheap.labels_[0] == cheap.labels_[2]  # what is shown honours it all the same
