from collections.abc import Callable
from dataclasses import replace

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.relation import Relation
from likewise.queries.candidates import all_pairs
from likewise.queries.pool import Pool, select
from likewise.queries.typiclust import Typical
from likewise.seeds import stream

MakePool = Callable[..., Pool]


def two_clusters() -> Pool:
    """Return clusters 0-4 and 5-9; 2 and 8 lie in the middle of theirs."""
    line = np.array([-2.0, -0.9, 0, 0.8, 1.9])
    places = np.concatenate([line, 100 + line[[1, 0, 3, 2, 4]]])
    probabilities = np.repeat(np.eye(2), 5, axis=0)
    return Pool(places[:, None], probabilities, ConstraintGraph(10))


def test_the_first_question_is_about_the_densest_points_of_two_clusters() -> None:
    pool = two_clusters()
    asked = select(Typical(n_neighbours=2), pool, all_pairs(np.arange(10)), 1, stream(0))
    assert asked.tolist() == [[2, 8]]


def test_an_answered_image_makes_room_for_the_next_densest() -> None:
    pool = two_clusters()
    assert isinstance(pool.constraints, ConstraintGraph)
    pool.constraints.add(2, 8, Relation.DIFFERENT)
    scores = Typical(n_neighbours=2).score(pool, np.array([[2, 7], [3, 8], [3, 7], [0, 8]]))
    # 7 and 3 are now the densest without an answer; 0 is farther out.
    assert scores[:3].tolist() == [0, 0, 0]
    assert scores[3] < 0


def test_two_answered_images_come_last(make_pool: MakePool) -> None:
    same = Relation.SAME
    pool = make_pool(told=[(0, 1, same), (2, 3, same)])
    scores = Typical().score(pool, all_pairs(np.arange(8)))
    answered = (all_pairs(np.arange(8)) < 4).all(axis=1)
    assert scores[answered].max() < scores[~answered].min()


def test_a_cluster_of_one_is_its_own_densest_point(make_pool: MakePool) -> None:
    pool = make_pool(n=8)
    probabilities = np.tile([1.0, 0.0, 0.0], (8, 1))
    probabilities[6] = [0, 1, 0]
    pool = replace(pool, probabilities=probabilities)
    asked = select(Typical(), pool, all_pairs(np.arange(8)), 1, stream(0))
    assert 6 in asked


def test_density_is_that_of_the_image_within_its_own_cluster() -> None:
    """Image 0 lies in the middle of the other cluster, which must not count for it."""
    places = np.array([0.0, 10.0, 10.5, 11.0, 0.1, -0.1, 0.2, -0.2])
    probabilities = np.repeat(np.eye(2), 4, axis=0)
    pool = Pool(places[:, None], probabilities, ConstraintGraph(8))
    scores = Typical(n_neighbours=2).score(pool, np.array([[0, 4], [1, 4], [2, 4], [3, 4]]))
    assert scores[2] == 0  # 2 lies between 1 and 3
    assert scores.argmin() == 0


def test_the_number_of_neighbours_decides_what_is_dense() -> None:
    # 0 and 1 touch, far from the rest; 2 to 6 are a looser heap.
    places = np.array([50.0, 50.1, 0.0, 1.0, 2.0, 3.0, 4.0])
    pool = Pool(places[:, None], np.ones((7, 1)), ConstraintGraph(7))
    pairs = np.array([[0, 1], [3, 4]])
    assert Typical(n_neighbours=1).score(pool, pairs).argmax() == 0
    assert Typical(n_neighbours=2).score(pool, pairs).argmax() == 1
