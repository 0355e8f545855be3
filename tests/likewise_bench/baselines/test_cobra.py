"""COBRA: the questions it asks, and how super-instances are merged."""

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import SAME, Relation
from likewise.errors import PoolExhaustedError
from likewise.estimators.kmeans import KMeans
from likewise.metrics import accuracy
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream
from likewise_bench.baselines.cobra import Cobra, make_super_instances
from tests.estimators.made_data import two_factors

X, DOMINANT, TARGET = two_factors(120)


def test_answers_merge_super_instances() -> None:
    """K-means finds the dominant grouping; merged super-instances are the other one."""
    model = Cobra(n_clusters=2, n_super=8, random_state=0)
    model.fit(X, oracle=LabelOracle(TARGET), n_questions=40)
    super_instances = model.super_instances_
    assert accuracy(TARGET, model.labels_) == 1
    assert accuracy(TARGET, KMeans(n_clusters=2, random_state=0).fit(X).labels_) < 0.7
    answers = list(model.constraints_.answers.values())
    assert {i for a in answers for i in a.question.images} <= set(super_instances.medoids.tolist())
    assert sum(a.answer == SAME for a in answers) == 6  # eight super-instances become two
    assert len(answers) < 8 * 7 / 2
    for s in range(8):
        assert len(set(model.labels_[super_instances.member_of == s])) == 1


def test_the_closest_open_clusters_are_asked_first_and_nothing_implied() -> None:
    rows = np.array([[0.0], [1.0], [3.0], [7.0]], dtype=np.float32)
    found, graph = make_super_instances(rows, 4, [], 0), ConstraintGraph(4)
    assert found.open_pairs(graph).tolist()[0] == [0, 1]
    graph.add(0, 1, Relation.SAME)
    # 0 and 1 are one cluster: its distance from 2 is that of 1.
    assert found.open_pairs(graph).tolist() == [[1, 2], [2, 3], [1, 3]]
    graph.add(1, 2, Relation.DIFFERENT)
    assert found.open_pairs(graph).tolist() == [[2, 3], [1, 3]]
    graph.add(2, 3, Relation.UNKNOWN)  # can't tell: not asked again soon
    assert found.open_pairs(graph).tolist() == [[1, 3]]


def test_without_further_answers_the_closest_clusters_are_merged() -> None:
    rows = np.array([[0.0], [1.0], [3.0], [7.0]], dtype=np.float32)
    found, graph = make_super_instances(rows, 4, [], 0), ConstraintGraph(4)
    by_image = found.merge(graph, 2)[found.member_of]
    assert accuracy(np.array([0, 0, 0, 1]), by_image) == 1
    graph.add(0, 1, Relation.DIFFERENT)
    by_image = found.merge(graph, 2)[found.member_of]
    assert accuracy(np.array([0, 1, 1, 1]), by_image) == 1
    for i, j in [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]:
        graph.add(i, j, Relation.DIFFERENT)
    assert set(found.merge(graph, 2).tolist()) == {0, 1}  # four groups, two clusters


def test_more_super_instances_are_made_once_all_relations_are_known() -> None:
    model = Cobra(n_clusters=2, random_state=0)
    model.fit(X, oracle=LabelOracle(TARGET), n_questions=60)
    assert model.constraints_.n_answers == 60
    assert len(model.super_instances_.medoids) > 2 * 60 // 3
    few = Cobra(n_clusters=2, n_super=4, random_state=0)
    few.fit(X, oracle=LabelOracle(TARGET), n_questions=60)
    assert few.constraints_.n_answers <= 6
    with pytest.raises(PoolExhaustedError, match="only 0 pairs of super-instances are open"):
        few.ask(1)


def test_an_image_that_was_asked_about_stays_the_medoid_of_its_super_instance() -> None:
    rows = stream(0, "rows").normal(size=(50, 2)).astype(np.float32)
    first = make_super_instances(rows, 5, [], 0)
    more = make_super_instances(rows, 7, first.medoids.tolist(), 0)
    kept = {int(more.member_of[m]) for m in first.medoids}
    assert all(int(more.medoids[s]) in first.medoids for s in kept)
