from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.errors import InvalidParameterError
from likewise.queries import density as neighbours
from likewise.queries.base import Pool, select
from likewise.queries.candidates import all_pairs
from likewise.queries.density import RepresentativeDifficult, TypiClust, neighbour_distances
from likewise.random_streams import stream


@pytest.mark.parametrize("k", [1, 3, 50])
def test_it_is_the_mean_over_the_nearest_in_a_loop(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_MAX_DISTANCES", 20)  # two or three rows at a time
    points = stream(0).normal(size=(12, 3))
    among = np.array([0, 2, 3, 5, 7, 8, 11])
    images = np.array([5, 1, 11, 0, 4])
    for image, mean in zip(images, neighbour_distances(points, images, among, k), strict=True):
        squared = sorted(sum((points[image] - points[j]) ** 2) for j in among if j != image)
        assert mean == pytest.approx(np.mean(squared[: min(k, 6)]))


def test_a_copy_is_a_neighbour_at_no_distance() -> None:
    points = np.array([[1.0], [1.0], [4.0]])
    assert neighbour_distances(points, np.arange(3), np.arange(3), 1).tolist() == [0, 0, 9]


def test_a_single_image_has_no_neighbours() -> None:
    one = np.array([0])
    assert neighbour_distances(np.ones((1, 2)), one, one, 6).tolist() == [0]


MakePool = Callable[..., Pool]


def two_clusters() -> Pool:
    """Return clusters 0-4 and 5-9; 2 and 8 lie in the middle of theirs."""
    line = np.array([-2.0, -0.9, 0, 0.8, 1.9])
    places = np.concatenate([line, 100 + line[[1, 0, 3, 2, 4]]])
    probabilities = np.repeat(np.eye(2), 5, axis=0)
    return Pool(places[:, None], probabilities, ConstraintGraph(10))


def test_the_first_question_is_about_the_densest_points_of_two_clusters() -> None:
    pool = two_clusters()
    asked = select(TypiClust(n_neighbours=2), pool, all_pairs(np.arange(10)), 1, stream(0))
    assert asked.tolist() == [[2, 8]]


def test_an_answered_image_makes_room_for_the_next_densest() -> None:
    pool = two_clusters()
    assert isinstance(pool.constraints, ConstraintGraph)
    pool.constraints.add(2, 8, Relation.DIFFERENT)
    scores = TypiClust(n_neighbours=2).score(pool, np.array([[2, 7], [3, 8], [3, 7], [0, 8]]))
    # 7 and 3 are now the densest without an answer; 0 is farther out.
    assert scores[:3].tolist() == [0, 0, 0]
    assert scores[3] < 0


def test_typiclust_asks_two_answered_images_last(make_pool: MakePool) -> None:
    same = Relation.SAME
    pool = make_pool(answers=[(0, 1, same), (2, 3, same)])
    scores = TypiClust().score(pool, all_pairs(np.arange(8)))
    answered = (all_pairs(np.arange(8)) < 4).all(axis=1)
    assert scores[answered].max() < scores[~answered].min()


def test_a_cluster_of_one_is_its_own_densest_point(make_pool: MakePool) -> None:
    pool = make_pool(n=8)
    probabilities = np.tile([1.0, 0.0, 0.0], (8, 1))
    probabilities[6] = [0, 1, 0]
    pool = replace(pool, probabilities=probabilities)
    asked = select(TypiClust(), pool, all_pairs(np.arange(8)), 1, stream(0))
    assert 6 in asked


def test_density_is_that_of_the_image_within_its_own_cluster() -> None:
    """Image 0 lies in the middle of the other cluster, which must not count for it."""
    places = np.array([0.0, 10.0, 10.5, 11.0, 0.1, -0.1, 0.2, -0.2])
    probabilities = np.repeat(np.eye(2), 4, axis=0)
    pool = Pool(places[:, None], probabilities, ConstraintGraph(8))
    scores = TypiClust(n_neighbours=2).score(pool, np.array([[0, 4], [1, 4], [2, 4], [3, 4]]))
    assert scores[2] == 0  # 2 lies between 1 and 3
    assert scores.argmin() == 0


def test_the_number_of_neighbours_decides_what_is_dense() -> None:
    # 0 and 1 touch, far from the rest; 2 to 6 are a looser heap.
    places = np.array([50.0, 50.1, 0.0, 1.0, 2.0, 3.0, 4.0])
    pool = Pool(places[:, None], np.ones((7, 1)), ConstraintGraph(7))
    pairs = np.array([[0, 1], [3, 4]])
    assert TypiClust(n_neighbours=1).score(pool, pairs).argmax() == 0
    assert TypiClust(n_neighbours=2).score(pool, pairs).argmax() == 1


TWO = RepresentativeDifficult(n_candidates=2)


def clusters_with_outliers() -> Pool:
    """Return clusters 0-7 and 8-15 on a line, whose means lie at 5 and 13; 7 and 15 are far out."""
    line = np.array([-0.6, -0.4, -0.2, 0.0, 0.2, 0.5, 0.7, 4.0])
    places = np.concatenate([line, 100 + line])
    return Pool(places[:, None], np.repeat(np.eye(2), 8, axis=0), ConstraintGraph(16))


def test_the_first_question_is_about_the_middles_of_two_clusters() -> None:
    asked = select(TWO, clusters_with_outliers(), all_pairs(np.arange(16)), 1, stream(0))
    assert asked.tolist() == [[5, 13]]


def test_then_come_compact_images_far_from_the_middle() -> None:
    pool = clusters_with_outliers()
    assert isinstance(pool.constraints, ConstraintGraph)
    pool.constraints.add(5, 13, Relation.DIFFERENT)
    scores = TWO.score(pool, np.array([[0, 13], [7, 13], [1, 13], [4, 13]]))
    # 0 and 7 are the farthest; 0 has neighbours; 1 and 4 are nothing in particular.
    assert scores.tolist() == [0, -1, -3, -3]


def test_representative_difficult_asks_two_answered_images_last(make_pool: MakePool) -> None:
    same = Relation.SAME
    pool = make_pool(answers=[(0, 1, same), (2, 3, same)])
    scores = RepresentativeDifficult().score(pool, all_pairs(np.arange(8)))
    answered = (all_pairs(np.arange(8)) < 4).all(axis=1)
    assert scores[answered].max() < scores[~answered].min()


def test_only_images_of_the_candidates_have_a_place() -> None:
    """Otherwise no image of a batch would be its cluster's representative."""
    scores = TWO.score(clusters_with_outliers(), np.array([[0, 9], [1, 9]]))
    assert scores.max() == 0


def test_no_candidates_raise_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="n_candidates must be an integer >= 1, got 0"):
        RepresentativeDifficult(n_candidates=0)
