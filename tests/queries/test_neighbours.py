import numpy as np
import pytest

from likewise.queries import neighbours
from likewise.queries.neighbours import neighbour_distances
from likewise.seeds import stream


@pytest.mark.parametrize("k", [1, 3, 50])
def test_it_is_the_mean_over_the_nearest_in_a_loop(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "_CELLS", 20)  # two or three rows at a time
    points = stream(0).normal(size=(12, 3))
    among = np.array([0, 2, 3, 5, 7, 8, 11])
    images = np.array([5, 1, 11, 0, 4])
    for image, mean in zip(images, neighbour_distances(points, images, among, k), strict=True):
        squared = sorted(sum((points[image] - points[j]) ** 2) for j in among if j != image)
        assert mean == pytest.approx(np.mean(squared[: min(k, 6)]))


def test_a_copy_is_a_neighbour_at_no_distance() -> None:
    points = np.array([[1.0], [1.0], [4.0]])
    assert neighbour_distances(points, np.arange(3), np.arange(3), 1).tolist() == [0, 0, 9]


def test_alone_there_are_no_neighbours() -> None:
    one = np.array([0])
    assert neighbour_distances(np.ones((1, 2)), one, one, 6).tolist() == [0]
